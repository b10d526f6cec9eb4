package s3

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"
)

// Proxy forwards requests to a store on loopback, counts them and injects faults. It does not
// change a request, so a signature stays valid.
type Proxy struct {
	listener net.Listener
	server   *http.Server
	store    *httputil.ReverseProxy
	ledger   ledger
	mu       sync.Mutex
	faults   []Fault
}

// NewProxy starts a proxy on a free port before a store on a Unix socket.
func NewProxy(socket string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, store: &httputil.ReverseProxy{
		Transport: transport(socket),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", "store" // only its socket counts
			r.Out.Host = r.In.Host                             // which is signed
		},
		// A store that does not answer has no answer, not even a bad gateway's.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	go func() { _ = p.server.Serve(listener) }()
	return p, nil
}

// transport passes bodies as they are, which includes not asking for compressed ones.
func transport(socket string) *http.Transport {
	return &http.Transport{
		DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
	}
}

// Port of the proxy on 127.0.0.1.
func (p *Proxy) Port() int { return p.listener.Addr().(*net.TCPAddr).Port }

// Fail has these faults from now on, in place of earlier ones; without any, none.
func (p *Proxy) Fail(faults ...Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = faults
}

// Counts of what was answered since the last ResetCounts.
func (p *Proxy) Counts() Counts { return p.ledger.read() }

// ResetCounts returns the counts so far and starts again at zero.
func (p *Proxy) ResetCounts() Counts { return p.ledger.reset() }

// Close ends the proxy with its connections.
func (p *Proxy) Close() error { return p.server.Close() }

// ServeHTTP is the http.Handler's.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call := callOf(r)
	body := &meteredBody{ReadCloser: r.Body}
	r.Body = body
	metered := &meteredAnswer{ResponseWriter: w}
	// A handler that panics has closed the connection.
	defer func() { p.ledger.add(Outcome{call, metered.status}, body.bytes.Load(), metered.bytes) }()
	p.serve(metered, r, p.fault(call))
}

func (p *Proxy) fault(c Call) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	return combined(p.faults, c)
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request, f Fault) {
	if !delay(r.Context(), f.Latency) || f.Reset {
		panic(http.ErrAbortHandler)
	}
	if f.Status != 0 {
		// A client that is still sending would see a broken pipe.
		_, _ = io.Copy(io.Discard, r.Body)
		answer(w, f)
		return
	}
	if !f.LoseAnswer {
		p.store.ServeHTTP(w, r)
		return
	}
	p.store.ServeHTTP(&lostAnswer{header: http.Header{}}, r)
	panic(http.ErrAbortHandler)
}

// lostAnswer goes nowhere.
type lostAnswer struct{ header http.Header }

func (a *lostAnswer) Header() http.Header         { return a.header }
func (a *lostAnswer) Write(p []byte) (int, error) { return len(p), nil }
func (a *lostAnswer) WriteHeader(int)             {}
