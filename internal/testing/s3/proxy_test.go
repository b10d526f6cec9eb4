//go:build linux

package s3

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// fakeStore answers with what it was sent, and keeps the last request.
type fakeStore struct {
	asked atomic.Int64
	last  atomic.Pointer[http.Request]
}

func (s *fakeStore) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked.Add(1)
	s.last.Store(r)
	_, _ = io.Copy(w, r.Body)
}

func startProxy(t *testing.T, handler http.Handler) *Proxy {
	t.Helper()
	folder, err := os.MkdirTemp("", "pgs3") //nolint:usetesting // a socket's path has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket := filepath.Join(folder, "s3")
	if handler != nil {
		listener, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
		go func() { _ = server.Serve(listener) }()
		t.Cleanup(func() { _ = server.Close() })
	}
	p, err := NewProxy(socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func put(t *testing.T, p *Proxy, path, body string) (status int, text string, err error) {
	t.Helper()
	url := fmt.Sprintf("http://127.0.0.1:%d%s", p.Port(), path)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "10.0.2.2:7070"
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close() //nolint:errcheck // only read
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}

// A signature covers host, path, query and body.
func TestProxyPassesRequestsUnchanged(t *testing.T) {
	store := &fakeStore{}
	p := startProxy(t, store)
	status, text, err := put(t, p, "/bucket/a%2Fb//c+d?partNumber=1&uploadId=x%2Fy", "content")
	if err != nil || status != http.StatusOK || text != "content" {
		t.Fatalf("put: %d, %q, %v", status, text, err)
	}
	got := store.last.Load()
	if got.Host != "10.0.2.2:7070" || got.RequestURI != "/bucket/a%2Fb//c+d?partNumber=1&uploadId=x%2Fy" {
		t.Errorf("the store got host %q, URI %q", got.Host, got.RequestURI)
	}
	if got.ContentLength != int64(len("content")) || got.Header.Get("X-Forwarded-For") != "" {
		t.Errorf("the store got %d bytes with headers %v", got.ContentLength, got.Header)
	}
}

func TestProxyCountsRequestsAndBytes(t *testing.T) {
	p := startProxy(t, &fakeStore{})
	p.Fail(Fault{Bucket: "other", Status: http.StatusServiceUnavailable, Code: "SlowDown"})
	for _, path := range []string{"/one/key", "/one/key", "/other/key"} {
		if _, _, err := put(t, p, path, "12345"); err != nil {
			t.Fatal(err)
		}
	}
	one := p.Counts()[Outcome{Call{"PUT", "one", "PutObject"}, http.StatusOK}]
	if want := (Count{Requests: 2, Up: 10, Down: 10}); one != want {
		t.Errorf("bucket one: %+v, want %+v", one, want)
	}
	other := p.Counts().Sum(func(o Outcome) bool { return o.Bucket == "other" && o.Status == http.StatusServiceUnavailable })
	if other.Requests != 1 || other.Up != 5 {
		t.Errorf("bucket other: %+v", other)
	}
	if before := p.ResetCounts(); before.Total().Requests != 3 || p.Counts().Total().Requests != 0 {
		t.Errorf("reset: %v, then %v", before, p.Counts())
	}
}

func TestProxyInjectsFaults(t *testing.T) {
	for name, test := range map[string]struct {
		fault      Fault
		wantStatus int // 0 means that the proxy sends no answer
		wantAsked  int64
	}{
		"none":              {wantStatus: 200, wantAsked: 1},
		"unavailable":       {fault: Unavailable(), wantStatus: 503},
		"skewed":            {fault: Fault{Status: 403, Code: "RequestTimeTooSkewed"}, wantStatus: 403},
		"reset":             {fault: Fault{Reset: true}},
		"a lost answer":     {fault: Fault{LoseAnswer: true}, wantAsked: 1},
		"another bucket":    {fault: Fault{Bucket: "other", Reset: true}, wantStatus: 200, wantAsked: 1},
		"another operation": {fault: Fault{Operations: []string{"GetObject"}, Reset: true}, wantStatus: 200, wantAsked: 1},
		"this operation":    {fault: Fault{Operations: []string{"PutObject"}, Reset: true}},
	} {
		t.Run(name, func(t *testing.T) {
			store := &fakeStore{}
			p := startProxy(t, store)
			p.Fail(test.fault)
			status, text, err := put(t, p, "/bucket/key", "content")
			if status != test.wantStatus || (err == nil) != (test.wantStatus != 0) {
				t.Errorf("status %d, %v", status, err)
			}
			if test.fault.Code != "" && !strings.Contains(text, "<Code>"+test.fault.Code+"</Code>") {
				t.Errorf("answer %q", text)
			}
			if got := store.asked.Load(); got != test.wantAsked {
				t.Errorf("the store was asked %d times, want %d", got, test.wantAsked)
			}
			p.Fail()
			if status, _, err := put(t, p, "/bucket/key", ""); status != http.StatusOK {
				t.Errorf("healed: %d, %v", status, err)
			}
		})
	}
}

func TestProxyDelaysRequests(t *testing.T) {
	p := startProxy(t, &fakeStore{})
	p.Fail(Fault{Latency: 20 * time.Millisecond}, Fault{Latency: 30 * time.Millisecond})
	begin := time.Now()
	if _, _, err := put(t, p, "/bucket/key", ""); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < 50*time.Millisecond {
		t.Errorf("it took %s", took)
	}
}

// A store that is gone answers nothing: a gateway's 502 would be a fault of ours.
func TestProxyWithoutStore(t *testing.T) {
	p := startProxy(t, nil)
	if status, _, err := put(t, p, "/bucket/key", ""); err == nil {
		t.Errorf("status %d", status)
	}
	if got := p.Counts().Sum(func(o Outcome) bool { return o.Status == 0 }); got.Requests != 1 {
		t.Errorf("counted %v", p.Counts())
	}
}

func TestCallIsNamedByTheOperationOfS3(t *testing.T) {
	for _, test := range []struct {
		method, target, header string
		want                   Call
	}{
		{method: "GET", target: "/", want: Call{"GET", "", "ListBuckets"}},
		{method: "HEAD", target: "/b", want: Call{"HEAD", "b", "HeadBucket"}},
		{method: "GET", target: "/b?list-type=2&prefix=x", want: Call{"GET", "b", "ListObjects"}},
		{method: "GET", target: "/b/?uploads", want: Call{"GET", "b", "ListMultipartUploads"}},
		{method: "POST", target: "/b?delete", want: Call{"POST", "b", "DeleteObjects"}},
		{method: "GET", target: "/b/k", want: Call{"GET", "b", "GetObject"}},
		{method: "HEAD", target: "/b/k/l", want: Call{"HEAD", "b", "HeadObject"}},
		{method: "PUT", target: "/b/k", want: Call{"PUT", "b", "PutObject"}},
		{method: "PUT", target: "/b/k", header: "If-None-Match", want: Call{"PUT", "b", "IfPutObject"}},
		{method: "PUT", target: "/b/k", header: "If-Match", want: Call{"PUT", "b", "IfPutObject"}},
		{method: "PUT", target: "/b/k", header: "X-Amz-Copy-Source", want: Call{"PUT", "b", "CopyObject"}},
		{method: "DELETE", target: "/b/k", want: Call{"DELETE", "b", "DeleteObject"}},
		{method: "POST", target: "/b/k?uploads", want: Call{"POST", "b", "CreateMultipartUpload"}},
		{method: "PUT", target: "/b/k?partNumber=1&uploadId=u", want: Call{"PUT", "b", "UploadPart"}},
		{method: "POST", target: "/b/k?uploadId=u", want: Call{"POST", "b", "CompleteMultipartUpload"}},
		{method: "DELETE", target: "/b/k?uploadId=u", want: Call{"DELETE", "b", "AbortMultipartUpload"}},
	} {
		request, err := http.NewRequestWithContext(t.Context(), test.method, test.target, &bytes.Buffer{})
		if err != nil {
			t.Fatal(err)
		}
		if test.header != "" {
			request.Header.Set(test.header, "x")
		}
		if got := callOf(request); got != test.want {
			t.Errorf("%s %s %s: %+v, want %+v", test.method, test.target, test.header, got, test.want)
		}
	}
}
