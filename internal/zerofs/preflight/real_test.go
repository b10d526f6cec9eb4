//go:build zerofs && linux

// Tests with a real S3 server, versitygw, that PGSTORAGE_S3 names: go test -tags
// zerofs. Without it they are skipped. It listens on loopback.
package preflight

import (
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// gateway on a folder with the bucket bucket; other/ in it holds someone's data.
func gateway(t *testing.T) (endpoint, bucket string) {
	t.Helper()
	program := os.Getenv("PGSTORAGE_S3")
	if program == "" {
		t.Skip("needed: PGSTORAGE_S3 (hack/tools.sh versitygw)")
	}
	dir := t.TempDir()
	bucket = filepath.Join(dir, "bucket")
	if err := os.MkdirAll(filepath.Join(bucket, "a", "other", "photos"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"manifest", "photos/cat"} {
		if err := os.WriteFile(filepath.Join(bucket, "a", "other", name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	_ = l.Close()
	cmd := exec.Command(program, "--port", at, "posix", dir)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY=key", "ROOT_SECRET_KEY=secret")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return "http://" + at, bucket
}

// files of a bucket; folders do not count, of which posix leaves empty ones.
func files(t *testing.T, bucket string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(bucket, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// skewed20 fakes a store with another clock before a real one: its Date header, and
// where refuse is set also Amazon's error.
func skewed20(t *testing.T, endpoint string, refuse bool) string {
	t.Helper()
	u, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u); r.Out.Host = r.In.Host },
		ModifyResponse: func(r *http.Response) error {
			r.Header.Set("Date", time.Now().Add(20*time.Minute).UTC().Format(http.TimeFormat))
			return nil
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuse {
			w.Header()["Date"] = nil
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte("<Error><Code>RequestTimeTooSkewed</Code><Message>The difference is too large.</Message></Error>"))
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestReal(t *testing.T) {
	endpoint, bucket := gateway(t)
	before := files(t, bucket)
	for name, c := range map[string]struct {
		change       func(o *Options)
		reason, says string
	}{
		"fine":         {func(*Options) {}, "", ""},
		"key":          {func(o *Options) { o.AccessKeyID = "nobody" }, zerofs.ReasonCredentialsRejected, "XAdminUserNotFound"},
		"secret":       {func(o *Options) { o.SecretAccessKey = "guessed" }, zerofs.ReasonCredentialsRejected, "SignatureDoesNotMatch"},
		"bucket":       {func(o *Options) { o.URL = "s3://nobucket/a" }, zerofs.ReasonBucketNotFound, "nobucket"},
		"foreign":      {func(o *Options) { o.URL = "s3://bucket/a/other" }, zerofs.ReasonPrefixNotEmpty, `"manifest" "photos/"`},
		"above":        {func(o *Options) { o.URL = "s3://bucket/a" }, zerofs.ReasonPrefixNotEmpty, `"other/"`},
		"clock":        {func(o *Options) { o.Endpoint = skewed20(t, endpoint, false) }, zerofs.ReasonClockSkew, "behind"},
		"clock, error": {func(o *Options) { o.Endpoint = skewed20(t, endpoint, true) }, zerofs.ReasonClockSkew, "RequestTimeTooSkewed"},
		"down":         {func(o *Options) { o.Endpoint = "http://127.0.0.1:9" }, zerofs.ReasonEndpointUnreachable, "refused"},
		"name":         {func(o *Options) { o.Endpoint = "http://nowhere.invalid" }, zerofs.ReasonEndpointUnreachable, "lookup"},
		"TLS":          {func(o *Options) { o.Endpoint = "https" + endpoint[len("http"):] }, zerofs.ReasonEndpointUnreachable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(endpoint)
			o.Patience = 3 * time.Second
			c.change(&o)
			expect(t, Check(t.Context(), o), c.reason, c.says)
			if after := files(t, bucket); len(after) != len(before) {
				t.Errorf("something was written or removed: %q, before %q", after, before)
			}
		})
	}
}
