package meter

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// headerTime bounds how long the header of a request may take, once it began. How long
// all else takes is for ZeroFS and the store to say: neither sets a limit here.
const headerTime = time.Minute

// Options of a meter.
type Options struct {
	// Store is where requests go, as zerofs.Server has it by StoreURL.
	Store *url.URL
	// Roots that the store's certificate must come from; nil: the system's, which ZeroFS
	// takes without a meter.
	Roots *x509.CertPool
	// Log reports when the store stops answering, and when it answers again.
	Log *slog.Logger
}

// Meter is a proxy to one store.
type Meter struct {
	// store has scheme and host; authority is the host as ZeroFS asks for it by http.
	store     *url.URL
	authority string
	log       *slog.Logger
	transport *http.Transport
	proxy     *httputil.ReverseProxy
	server    *http.Server
	counts    counts
	// silence is why the last request had no answer; nil: it had one.
	silence atomic.Pointer[error]
}

// New meter before a store. It fails if that is not the URL of a host, by http or https.
func New(o Options) (*Meter, error) {
	if s := o.Store; s == nil || s.Host == "" || (s.Scheme != "http" && s.Scheme != "https") {
		return nil, fmt.Errorf("store %q of a meter is not scheme and host, as https://minio.example:9000", o.Store)
	}
	m := &Meter{
		store: &url.URL{Scheme: o.Store.Scheme, Host: o.Store.Host}, authority: authority(o.Store),
		log: o.Log, transport: transport(o.Roots),
	}
	quiet := slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug)
	m.proxy = &httputil.ReverseProxy{
		Rewrite: m.rewrite, Transport: &metered{m.transport, &m.counts}, BufferPool: &buffers{},
		ModifyResponse: m.answered, ErrorHandler: m.unanswered, ErrorLog: quiet,
	}
	// ZeroFS closes connections that it does not need. One that was closed from here might
	// be taken for the next request.
	m.server = &http.Server{Handler: m, ReadHeaderTimeout: headerTime, ErrorLog: quiet}
	return m, nil
}

// authority of a store in a URL by http, where port 80 is not written. Port 443 is
// not either where the store has TLS: zerofs.Config leaves it out.
func authority(store *url.URL) string {
	host := strings.ToLower(store.Host)
	if store.Scheme == "https" {
		host = strings.TrimSuffix(host, ":443")
	}
	return strings.TrimSuffix(host, ":80")
}

// Serve a listener, which must be on loopback, until Close.
func (m *Meter) Serve(l net.Listener) error {
	if at, ok := l.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
		return fmt.Errorf("meter on %s, which is not on loopback", l.Addr())
	}
	if err := m.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("meter: %w", err)
	}
	return nil
}

// Close ends the listener and all connections; requests under way break off.
func (m *Meter) Close() error {
	err := m.server.Close()
	m.transport.CloseIdleConnections()
	return err
}

// Traffic since the meter is.
func (m *Meter) Traffic() zerofs.StoreTraffic { return m.counts.traffic() }

// Silence is why the last request had no answer: ZeroFS itself knows no more than that.
// Nil: it had one, or nothing was asked yet.
func (m *Meter) Silence() error {
	if err := m.silence.Load(); err != nil {
		return *err
	}
	return nil
}

// ServeHTTP is the http.Handler's. It rejects requests for anything but the store, and
// does not count them.
func (m *Meter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Scheme != "http" || strings.TrimSuffix(strings.ToLower(r.URL.Host), ":80") != m.authority || kindOf(r) == unknown {
		http.Error(w, "this proxy leads to one store only", http.StatusForbidden)
		return
	}
	m.proxy.ServeHTTP(w, r)
}

// rewrite a request for the store: only where it goes. Host, path, query and body are
// what was signed; of the query, the proxy leaves out what it does not understand.
func (m *Meter) rewrite(r *httputil.ProxyRequest) {
	r.Out.URL.Scheme, r.Out.URL.Host = m.store.Scheme, m.store.Host
	r.Out.URL.RawQuery = r.In.URL.RawQuery
}

func (m *Meter) answered(*http.Response) error {
	if m.silence.Swap(nil) != nil {
		m.log.Info("the store answers again", "store", m.store.Host)
	}
	return nil
}

// unanswered says to ZeroFS that there is no answer, by a status that it asks again
// after, whatever it asked.
func (m *Meter) unanswered(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil { // no client waits for it
		panic(http.ErrAbortHandler)
	}
	if m.silence.Swap(&err) == nil {
		m.log.Warn("the store does not answer", "store", m.store.Host, "error", err)
	}
	if r.Body != nil {
		// A client that is still sending would see a broken pipe, not the answer.
		_, _ = io.Copy(io.Discard, r.Body)
	}
	w.WriteHeader(http.StatusBadGateway)
}
