package meter

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// A store that sheds load does not take what it refuses.
func TestStoreThatDoesNotListen(t *testing.T) {
	r := newTrial(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	response, err := r.ask(http.MethodPut, "/bucket/key", bytes.NewReader(make([]byte, 32<<20)))
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusServiceUnavailable {
		t.Error(err, response.Status)
	}
	r.until(func() bool { return r.Traffic().Errors == 1 }, func() string { return "it is no error" })
}

// The meter reports an unreachable store to ZeroFS with a status after which it
// retries.
func TestStoreThatIsAway(t *testing.T) {
	r := newTrial(t, echo)
	dial := r.transport.DialContext
	away := true
	r.transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if away {
			return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
		}
		return dial(ctx, network, address)
	}
	large := strings.Repeat("x", 1<<20) // more than a server reads of itself
	for range 2 {
		response, err := r.ask(http.MethodPut, "/bucket/key", strings.NewReader(large))
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusBadGateway || response.Close {
			t.Errorf("%v: %s; the connection was closed: %t", err, response.Status, response.Close)
		}
	}
	r.counted(zerofs.StoreTraffic{Requests: map[string]int64{"PUT": 2}, Errors: 2})
	if err := r.Silence(); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Error(err)
	}
	away = false
	for range 2 {
		if status, _ := r.answer(http.MethodPut, "/bucket/key", "12"); status != http.StatusOK {
			t.Error(status)
		}
	}
	r.counted(zerofs.StoreTraffic{Requests: map[string]int64{"PUT": 4}, Errors: 2, SentBytes: 4, ReceivedBytes: 4})
	if err := r.Silence(); err != nil {
		t.Error(err)
	}
	log := r.log.String()
	if strings.Count(log, "does not answer") != 1 || strings.Count(log, "answers again") != 1 || strings.Contains(log, "thekey") {
		t.Errorf("log: %s", log)
	}
}

// A store with an untrusted certificate counts as unreachable.
func TestStoreThatIsAnother(t *testing.T) {
	store := httptest.NewTLSServer(http.HandlerFunc(echo))
	t.Cleanup(store.Close)
	r := meterOf(t, store, store.URL)
	r.transport.TLSClientConfig.RootCAs = x509.NewCertPool()
	if status, _ := r.answer(http.MethodGet, "/bucket/key", ""); status != http.StatusBadGateway {
		t.Error(status)
	}
	if !strings.Contains(r.log.String(), "certificate") {
		t.Error(r.log)
	}
}

// Nor of one that closes the connection, or resets it, does ZeroFS see more than that it
// may ask again.
func TestStoreThatCloses(t *testing.T) {
	for name, linger := range map[string]int{"in order": -1, "by a reset": 0} {
		t.Run(name, func(t *testing.T) {
			r := newTrial(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				conn, _, err := http.NewResponseController(w).Hijack()
				if err == nil {
					conn = conn.(*tls.Conn).NetConn()
					_ = conn.(*net.TCPConn).SetLinger(linger)
					_ = conn.Close()
				}
			})
			if status, _ := r.answer(http.MethodPut, "/bucket/key", "12345"); status != http.StatusBadGateway {
				t.Error(status)
			}
			r.counted(zerofs.StoreTraffic{Requests: map[string]int64{"PUT": 1}, Errors: 1, SentBytes: 5})
		})
	}
}

func TestStoreThatClosesAmidAnAnswer(t *testing.T) {
	r := newTrial(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(2<<20))
		_, _ = w.Write(make([]byte, 1<<20))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	response, err := r.ask(http.MethodGet, "/bucket/key", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if got, err := io.ReadAll(response.Body); err == nil {
		t.Errorf("%d bytes are all", len(got))
	}
	r.counted(zerofs.StoreTraffic{Requests: map[string]int64{"GET": 1}, Errors: 1, ReceivedBytes: 1 << 20})
}
