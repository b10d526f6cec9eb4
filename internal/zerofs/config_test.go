package zerofs_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

var update = flag.Bool("update", false, "write the golden files anew")

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
	for name, s := range map[string]zerofs.Server{
		"0.19": minio(), "0.19-amazon": amazon, "0.19-http": plain, "2": family2(), "2-hosted": hosted,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := zerofs.Config(s)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".golden.toml")
			if *update {
				if err := os.WriteFile(path, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s differs; if that is meant: go test with -update\n%s", path, diff)
			}
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
