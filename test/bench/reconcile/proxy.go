package reconcile

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// proxy stands between the manager and the API server and counts requests.
type proxy struct {
	url    string
	server *http.Server

	mu     sync.Mutex
	counts tally
}

func startProxy(config *rest.Config) (*proxy, error) {
	target, err := address(config)
	if err != nil {
		return nil, fmt.Errorf("API server's address: %w", err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("transport: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	p := &proxy{url: "http://" + listener.Addr().String(), counts: tally{}}
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.Transport = transport
	// Watches must arrive as they come.
	forward.FlushInterval = -1
	p.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.count(r)
		forward.ServeHTTP(w, r)
	})}
	go func() {
		if err := p.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			progress("proxy ended: %v", err)
		}
	}()
	return p, nil
}

func address(config *rest.Config) (*url.URL, error) {
	target, err := url.Parse(config.Host)
	if err == nil && target.Scheme != "" {
		return target, nil
	}
	return url.Parse("https://" + config.Host)
}

func (p *proxy) close() { _ = p.server.Close() }

func (p *proxy) count(r *http.Request) {
	kind := requestOf(r)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[kind]++
}

// snapshot is what was counted until now.
func (p *proxy) snapshot() tally {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts.since(nil)
}
