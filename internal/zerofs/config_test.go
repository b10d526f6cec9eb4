package zerofs_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// minio is a server that nothing is wrong with.
func minio() zerofs.Server {
	return zerofs.Server{
		Family: v1alpha1.ZeroFS019, URL: "s3://pgdata/prod/s3/" + zerofs.NodeNameInURL,
		Endpoint: "https://minio.example:9000", Region: "us-east-1", PathStyle: true,
		CacheDir: "/cache", CacheSize: 10 << 30, CacheMemory: 256 << 20, FlushInterval: 30 * time.Second,
		NBDSocket: "/run/pgstorage/zerofs/s3-a/nbd.sock", NinePSocket: "/run/pgstorage/zerofs/s3-a/9p.sock",
	}
}

func family2() zerofs.Server {
	s := minio()
	s.Family = v1alpha1.ZeroFS2
	s.PrometheusAddress = "0.0.0.0:9091"
	return s
}

func TestConfig(t *testing.T) {
	amazon := minio()
	amazon.Endpoint, amazon.Region, amazon.PathStyle = "", "eu-central-1", false
	hosted := family2()
	hosted.PathStyle, hosted.PrometheusAddress = false, ""
	plain := minio()
	plain.Endpoint, plain.AllowHTTP = "http://127.0.0.1:7070", true
	metered, meteredAmazon := minio(), amazon
	metered.Meter, meteredAmazon.Meter = "127.0.0.1:9099", "127.0.0.1:9099"
	for name, s := range map[string]zerofs.Server{
		"0.19": minio(), "0.19-amazon": amazon, "0.19-http": plain, "2": family2(), "2-hosted": hosted,
		"0.19-metered": metered, "0.19-amazon-metered": meteredAmazon,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := zerofs.Config(s)
			if err != nil {
				t.Fatal(err)
			}
			golden.Text(t, filepath.Join("testdata", name+".golden.toml"), string(got))
		})
	}
}

func TestConfigRefuses(t *testing.T) {
	for _, c := range []struct {
		change func(s *zerofs.Server)
		says   string
	}{
		{func(s *zerofs.Server) { s.Family = "1" }, `family "1" is not known`},
		{func(s *zerofs.Server) { s.URL = "s3://bucket" }, "is not s3://bucket/prefix"},
		{func(s *zerofs.Server) { s.URL = "s3://bucket/a/" }, "is not s3://bucket/prefix"},
		{func(s *zerofs.Server) { s.URL = "memory:///a/b" }, "is not s3://bucket/prefix"},
		{func(s *zerofs.Server) { s.URL += "/${HOME}" }, "holds a variable"},
		{func(s *zerofs.Server) { s.CacheDir = "/$HOME" }, "holds a variable"},
		{func(s *zerofs.Server) { s.CacheDir = "cache" }, "is not absolute"},
		{func(s *zerofs.Server) { s.Region = "" }, "region is empty"},
		{func(s *zerofs.Server) { s.CacheSize = 0 }, "must be above 0"},
		{func(s *zerofs.Server) { s.CacheMemory = -1 }, "must be above 0"},
		{func(s *zerofs.Server) { s.FlushInterval = time.Second }, "at least 5s"},
		{func(s *zerofs.Server) { s.FlushInterval = 5500 * time.Millisecond }, "whole seconds"},
		{func(s *zerofs.Server) { s.NBDSocket = "nbd.sock" }, "is not absolute"},
		{func(s *zerofs.Server) { s.NinePSocket = "/" + strings.Repeat("a", 107) }, "longer than 107 bytes"},
		{func(s *zerofs.Server) { s.Endpoint = "minio.example:9000" }, "is not scheme and host"},
		{func(s *zerofs.Server) { s.Endpoint = "https://key:secret@minio.example" }, "is not scheme and host"},
		{func(s *zerofs.Server) { s.Endpoint = "http://minio.example" }, "http is not allowed"},
		{func(s *zerofs.Server) { s.Meter = "localhost:9099" }, "meter: "},
		{func(s *zerofs.Server) { s.Meter = "0.0.0.0:9099" }, "not a port on loopback"},
		{func(s *zerofs.Server) { s.Meter = "127.0.0.1:0" }, "not a port on loopback"},
		{func(s *zerofs.Server) {
			s.Meter, s.PathStyle, s.URL = "127.0.0.1:9099", false, "s3://"+zerofs.NodeNameInURL+"/a"
		}, "invalid character"},
		{func(s *zerofs.Server) { s.PrometheusAddress = "0.0.0.0:9091" }, "ZeroFS 0.19 has none"},
		{func(s *zerofs.Server) { s.Family, s.PrometheusAddress = v1alpha1.ZeroFS2, "localhost:9091" }, "metrics"},
	} {
		s := minio()
		c.change(&s)
		if _, err := zerofs.Config(s); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, wanted %q", err, c.says)
		}
	}
}

// Where a metered server sends its requests, and as whose host it signs them.
func TestStoreURL(t *testing.T) {
	for _, c := range []struct {
		endpoint, region string
		hosted           bool
		store, signed    string
	}{
		{"https://minio.example", "us-east-1", false, "https://minio.example", "http://minio.example"},
		{"https://minio.example:443", "us-east-1", false, "https://minio.example", "http://minio.example"},
		{"https://minio.example:9000", "us-east-1", false, "https://minio.example:9000", "http://minio.example:9000"},
		{"https://minio.example:9000", "us-east-1", true, "https://pgdata.minio.example:9000", "http://pgdata.minio.example:9000"},
		{"https://[fd00::1]:443", "us-east-1", false, "https://[fd00::1]", "http://[fd00::1]"},
		{"http://minio.example:80", "us-east-1", false, "http://minio.example", "http://minio.example"},
		{"http://minio.example:443", "us-east-1", false, "http://minio.example:443", "http://minio.example:443"},
		{"", "eu-central-1", false, "https://s3.eu-central-1.amazonaws.com", "http://s3.eu-central-1.amazonaws.com"},
		{"", "eu-central-1", true, "https://pgdata.s3.eu-central-1.amazonaws.com", "http://pgdata.s3.eu-central-1.amazonaws.com"},
		{"", "us-gov-west-1", false, "https://s3.us-gov-west-1.amazonaws.com", "http://s3.us-gov-west-1.amazonaws.com"},
		{"", "cn-north-1", true, "https://pgdata.s3.cn-north-1.amazonaws.com.cn", "http://pgdata.s3.cn-north-1.amazonaws.com.cn"},
		{"", "eusc-de-east-1", false, "https://s3.eusc-de-east-1.amazonaws.eu", "http://s3.eusc-de-east-1.amazonaws.eu"},
	} {
		s := minio()
		s.Endpoint, s.Region, s.PathStyle, s.AllowHTTP, s.Meter = c.endpoint, c.region, !c.hosted, true, "127.0.0.1:9099"
		at, err := s.StoreURL()
		if err != nil || at.String() != c.store {
			t.Errorf("%q in %s: %v, %v, wanted %s", c.endpoint, c.region, at, err, c.store)
		}
		text, err := zerofs.Config(s)
		if want := "\nendpoint = '" + c.signed + "'\n"; err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%q in %s: %v, %s\nwanted %s", c.endpoint, c.region, err, text, want)
		}
	}
}

func TestStoreURLRefuses(t *testing.T) {
	for _, endpoint := range []string{"minio.example:9000", "ftp://minio.example", "https://minio.example/path", "https://"} {
		s := minio()
		s.Endpoint = endpoint
		if at, err := s.StoreURL(); err == nil {
			t.Errorf("%s is %s", endpoint, at)
		}
	}
}
