package meter

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// A signature covers host, path, query and headers.
func TestPassesRequestsUnchanged(t *testing.T) {
	var got *http.Request
	r := newTrial(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		w.Header().Set("Etag", `"e"`)
		echo(w, r)
	})
	const path = "/bucket/a%2Fb//c+d'(e)%20f?partNumber=1&uploadId=x%2Fy;z"
	if status, body := r.answer(http.MethodPut, path, "content"); status != http.StatusOK || body != "content" {
		t.Errorf("%d %q", status, body)
	}
	if got.Host != r.host() || got.RequestURI != path || got.TLS == nil || got.ContentLength != int64(len("content")) {
		t.Errorf("host %q, URI %q, TLS %v, %d bytes", got.Host, got.RequestURI, got.TLS, got.ContentLength)
	}
	want := http.Header{"Authorization": {signature}, "Content-Length": {"7"}, "User-Agent": {"Go-http-client/1.1"}}
	if diff := cmp.Diff(want, got.Header); diff != "" {
		t.Error(diff)
	}
}

func TestCounts(t *testing.T) {
	r := newTrial(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bucket/missing":
			w.WriteHeader(http.StatusNotFound)
		case "/bucket/there":
			w.WriteHeader(http.StatusPreconditionFailed)
		case "/bucket/slow":
			w.WriteHeader(http.StatusTooManyRequests)
		case "/bucket/down":
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		echo(w, r)
	})
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{http.MethodGet, "/bucket?list-type=2&prefix=a", "", http.StatusOK},
		{http.MethodGet, "/bucket?prefix=a", "", http.StatusOK},
		{http.MethodGet, "/bucket/key", "", http.StatusOK},
		{http.MethodHead, "/bucket/missing", "", http.StatusNotFound},
		{http.MethodPut, "/bucket/key", "12345", http.StatusOK},
		{http.MethodPut, "/bucket/there", "123", http.StatusPreconditionFailed},
		{http.MethodPut, "/bucket/slow", "12", http.StatusTooManyRequests},
		{http.MethodPost, "/bucket?delete", "1", http.StatusOK},
		{http.MethodDelete, "/bucket/key", "", http.StatusOK},
		{http.MethodGet, "/bucket/down", "", http.StatusServiceUnavailable},
	} {
		if status, _ := r.answer(c.method, c.path, c.body); status != c.status {
			t.Errorf("%s %s: %d", c.method, c.path, status)
		}
	}
	r.counted(zerofs.StoreTraffic{
		Requests: map[string]int64{"LIST": 2, "GET": 2, "HEAD": 1, "PUT": 3, "POST": 1, "DELETE": 1},
		Errors:   2, SentBytes: 11, ReceivedBytes: 11,
	})
	if s := r.Traffic().Seconds; s <= 0 || s > patience.Seconds() {
		t.Errorf("all took %f s", s)
	}
}

func TestRefusesAllButTheStore(t *testing.T) {
	asked := false
	r := newTrial(t, func(http.ResponseWriter, *http.Request) { asked = true })
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(other.Close)
	proxy := serve(t, r.Meter).Host
	for _, line := range []string{
		"GET " + other.URL + "/ HTTP/1.1\r\nHost: " + r.host(),
		"GET http://127.0.0.1/ HTTP/1.1\r\nHost: " + r.host(),
		"GET http://elsewhere.example/ HTTP/1.1\r\nHost: " + r.host(),
		"GET https://" + r.host() + "/ HTTP/1.1\r\nHost: " + r.host(),
		"GET / HTTP/1.1\r\nHost: " + r.host(),
		"CONNECT " + r.host() + " HTTP/1.1\r\nHost: " + r.host(),
		"OPTIONS http://" + r.host() + "/ HTTP/1.1\r\nHost: " + r.host(),
	} {
		conn, err := net.Dial("tcp", proxy)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(patience))
		_, _ = io.WriteString(conn, line+"\r\nConnection: close\r\n\r\n")
		if got, err := io.ReadAll(conn); err != nil || !bytes.HasPrefix(got, []byte("HTTP/1.1 403 ")) {
			t.Errorf("%s: %v %s", line, err, got)
		}
		_ = conn.Close()
	}
	if asked {
		t.Error("it was passed on")
	}
	r.counted(zerofs.StoreTraffic{Requests: map[string]int64{}})
}

// What a body has is passed on before it has its end.
func TestStreams(t *testing.T) {
	const size = 32 << 20
	want := make([]byte, size)
	_, _ = rand.Read(want)
	half := make(chan struct{})
	wait := func() error {
		select {
		case <-half:
			return nil
		case <-time.After(patience):
			return errors.New("half of it did not arrive")
		}
	}
	r := newTrial(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = w.Write(want[:size/2])
			if err := wait(); err == nil {
				_, _ = w.Write(want[size/2:])
			}
			return
		}
		got := make([]byte, size)
		_, _ = io.ReadFull(r.Body, got[:size/2])
		half <- struct{}{}
		if _, err := io.ReadFull(r.Body, got[size/2:]); err != nil || !bytes.Equal(got, want) {
			w.WriteHeader(http.StatusBadRequest)
		}
	})
	up := io.MultiReader(bytes.NewReader(want[:size/2]), readerFunc(wait), bytes.NewReader(want[size/2:]))
	response, err := r.ask(http.MethodPut, "/bucket/key", up)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
		t.Error(err, response.Status)
	}
	if response, err = r.ask(http.MethodGet, "/bucket/key", nil); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	got := make([]byte, size)
	if _, err := io.ReadFull(response.Body, got[:size/2]); err != nil {
		t.Fatal(err)
	}
	half <- struct{}{}
	if _, err := io.ReadFull(response.Body, got[size/2:]); err != nil || !bytes.Equal(got, want) {
		t.Error("what came back is something else:", err)
	}
	r.counted(zerofs.StoreTraffic{Requests: map[string]int64{"PUT": 1, "GET": 1}, SentBytes: size, ReceivedBytes: size})
}

// readerFunc is an end of what is read once it returns no error.
type readerFunc func() error

func (f readerFunc) Read([]byte) (int, error) {
	if err := f(); err != nil {
		return 0, err
	}
	return 0, io.EOF
}

// Requests at once have a connection each, and those that follow have these.
func TestKeepsConnections(t *testing.T) {
	const atOnce = 16
	var made atomic.Int64
	arrived, answer := make(chan struct{}, atOnce), make(chan struct{})
	store := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		select {
		case <-answer:
		case <-time.After(patience):
		}
	}))
	store.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			made.Add(1)
		}
	}
	store.StartTLS()
	t.Cleanup(store.Close)
	r := meterOf(t, store, store.URL)
	for range 3 {
		var all sync.WaitGroup
		for range atOnce {
			all.Go(func() {
				response, err := r.ask(http.MethodPut, "/bucket/key", strings.NewReader("12345"))
				if err == nil {
					err = response.Body.Close()
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		for range atOnce {
			select {
			case <-arrived:
			case <-time.After(patience):
				t.Fatal("they do not reach the store at once")
			}
		}
		for range atOnce {
			answer <- struct{}{}
		}
		all.Wait()
	}
	if n := made.Load(); n != atOnce {
		t.Errorf("%d connections were made for %d requests at once", n, atOnce)
	}
}

// A client that disconnects leaves nothing behind: the store's handler ends with it. It
// is an error without an answer, because ZeroFS disconnects when the store is
// unavailable.
func TestClientThatGoes(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		errors int64
	}{"without an answer": {"", 1}, "amid an answer": {"12345", 0}} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			over := make(chan struct{})
			r := newTrial(t, func(w http.ResponseWriter, r *http.Request) {
				defer close(over)
				if c.answer == "" {
					cancel()
				} else {
					_, _ = io.WriteString(w, c.answer)
					_ = http.NewResponseController(w).Flush()
				}
				<-r.Context().Done()
			})
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.host()+"/bucket/key", nil)
			if err != nil {
				t.Fatal(err)
			}
			if response, err := r.client.Do(request); err == nil {
				got := make([]byte, len(c.answer))
				if _, err := io.ReadFull(response.Body, got); err != nil || c.answer == "" {
					t.Error(err, response.Status)
				}
				_ = response.Body.Close()
			} else if c.answer != "" {
				t.Error(err)
			}
			cancel()
			select {
			case <-over:
			case <-time.After(patience):
				t.Error("the store is still asked")
			}
			r.counted(zerofs.StoreTraffic{Requests: map[string]int64{"GET": 1}, Errors: c.errors, ReceivedBytes: int64(len(c.answer))})
			if err := r.Silence(); err != nil {
				t.Error("the store gets the blame:", err)
			}
		})
	}
}

// Where a store is, by its URL, and what its host is called by who asks for it by http.
func TestPorts(t *testing.T) {
	host := ""
	store := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { host = r.Host }))
	t.Cleanup(store.Close)
	plain := httptest.NewServer(store.Config.Handler)
	t.Cleanup(plain.Close)
	for _, c := range []struct{ store, asked, dialled, host string }{
		{"https://example.com", "http://example.com/b/k", "example.com:443", "example.com"},
		{"https://example.com:443", "http://example.com/b/k", "example.com:443", "example.com"},
		{"https://example.com:9000", "http://example.com:9000/b/k", "example.com:9000", "example.com:9000"},
		{"https://Example.com:9000", "http://example.com:9000/b/k", "Example.com:9000", "example.com:9000"},
		{"https://example.com:80", "http://example.com/b/k", "example.com:80", "example.com"},
		{"http://example.com", "http://example.com/b/k", "example.com:80", "example.com"},
		{"http://example.com", "http://example.com:80/b/k", "example.com:80", "example.com:80"},
		{"http://example.com:443", "http://example.com:443/b/k", "example.com:443", "example.com:443"},
	} {
		r := meterOf(t, store, c.store)
		dialled := ""
		r.transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			dialled = address
			at := store
			if strings.HasPrefix(c.store, "http:") {
				at = plain
			}
			return (&net.Dialer{}).DialContext(ctx, network, at.Listener.Addr().String())
		}
		response, err := r.client.Get(c.asked)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK || dialled != c.dialled || host != c.host {
			t.Errorf("%s, asked for %s: %d from %s as %s; wanted %s as %s", c.store, c.asked, response.StatusCode, dialled, host, c.dialled, c.host)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, at := range []*url.URL{nil, {}, {Scheme: "https"}, {Scheme: "ftp", Host: "store.example"}} {
		if _, err := New(Options{Store: at, Log: slog.New(slog.DiscardHandler)}); err == nil {
			t.Errorf("%v is a store", at)
		}
	}
}

func TestServeRefusesOtherAddresses(t *testing.T) {
	r := newTrial(t, echo)
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if err := r.Serve(l); err == nil || !strings.Contains(err.Error(), "not on loopback") {
		t.Error(err)
	}
}
