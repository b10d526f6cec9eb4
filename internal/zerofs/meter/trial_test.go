package meter

import (
	"bytes"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// patience bounds how long a test waits for what must happen.
const patience = 20 * time.Second

// trial of a meter before a store with TLS and a CA of its own.
type trial struct {
	*testing.T
	*Meter
	store  *httptest.Server
	client *http.Client
	log    *text
}

func newTrial(t *testing.T, store http.HandlerFunc) *trial {
	t.Helper()
	server := httptest.NewTLSServer(store)
	t.Cleanup(server.Close)
	return meterOf(t, server, server.URL)
}

// meterOf a store that has a URL.
func meterOf(t *testing.T, store *httptest.Server, at string) *trial {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(store.Certificate())
	r := &trial{T: t, store: store, log: &text{}}
	r.Meter, err = New(Options{Store: u, Roots: roots, Log: slog.New(slog.NewTextHandler(r.log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	r.client = &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(serve(t, r.Meter)), DisableCompression: true}, Timeout: patience}
	t.Cleanup(r.client.CloseIdleConnections)
	return r
}

// serve a meter on a free port.
func serve(t testing.TB, m *Meter) *url.URL {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- m.Serve(l) }()
	t.Cleanup(func() {
		if err := errors.Join(m.Close(), <-ended); err != nil {
			t.Error(err)
		}
	})
	return &url.URL{Scheme: "http", Host: l.Addr().String()}
}

// text that is written and read at once.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *text) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *text) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// host of the store.
func (r *trial) host() string { return strings.TrimPrefix(r.store.URL, "https://") }

const signature = "AWS4-HMAC-SHA256 Credential=thekey, Signature=thesignature"

// ask as ZeroFS does, by http.
func (r *trial) ask(method, path string, body io.Reader) (*http.Response, error) {
	r.Helper()
	request, err := http.NewRequestWithContext(r.Context(), method, "http://"+r.host()+path, body)
	if err != nil {
		r.Fatal(err)
	}
	request.Header.Set("Authorization", signature)
	return r.client.Do(request)
}

// answer of the store, whole.
func (r *trial) answer(method, path, body string) (status int, answer string) {
	r.Helper()
	response, err := r.ask(method, path, strings.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		r.Fatal(err)
	}
	return response.StatusCode, string(content)
}

// counted waits for the counts of what ended: a client has an answer before its end is
// counted.
func (r *trial) counted(want zerofs.StoreTraffic) {
	r.Helper()
	var diff string
	r.until(func() bool {
		got := r.Traffic()
		for k, n := range got.Requests {
			if n == 0 {
				delete(got.Requests, k)
			}
		}
		diff = cmp.Diff(want, got, cmpopts.IgnoreFields(want, "Seconds"))
		return diff == ""
	}, func() string { return diff })
}

func (r *trial) until(holds func() bool, otherwise func() string) {
	r.Helper()
	tick, limit := time.NewTicker(time.Millisecond), time.After(patience)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-limit:
			r.Fatal(otherwise())
		}
	}
}

// echo answers with what it was sent.
func echo(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }
