package main

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// proxy stands between the manager and the API server and counts requests.
type proxy struct {
	url    string
	server *http.Server

	mu     sync.Mutex
	counts map[string]int
}

func startProxy(config *rest.Config) (*proxy, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("API server's address: %w", err)
	}
	if target.Scheme == "" {
		target, err = url.Parse("https://" + config.Host)
		if err != nil {
			return nil, fmt.Errorf("API server's address: %w", err)
		}
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("transport: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	p := &proxy{url: "http://" + listener.Addr().String(), counts: map[string]int{}}
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

func (p *proxy) close() { _ = p.server.Close() }

// kindOf names a request as people speak of it: reads, watches, writes of objects,
// and events, which are written too but are no state.
func kindOf(r *http.Request) string {
	switch {
	case strings.Contains(r.URL.Path, "/leases"), strings.Contains(r.URL.Path, "tokenreviews"), strings.Contains(r.URL.Path, "subjectaccessreviews"):
		return "housekeeping"
	case strings.Contains(r.URL.Path, "/events") && r.Method != http.MethodGet:
		return "event"
	case r.URL.Query().Get("watch") != "":
		return "watch"
	case r.Method == http.MethodGet:
		return "get"
	case strings.HasSuffix(r.URL.Path, "/status"):
		return "write status"
	}
	return "write " + strings.ToLower(r.Method)
}

func (p *proxy) count(r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[kindOf(r)]++
}

// snapshot is what was counted until now.
func (p *proxy) snapshot() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.counts)
}

func since(now, then map[string]int) map[string]int {
	out := map[string]int{}
	for k, v := range now {
		if v > then[k] {
			out[k] = v - then[k]
		}
	}
	return out
}

// writes of objects; events are counted apart.
func writes(counts map[string]int) int {
	n := 0
	for k, v := range counts {
		if strings.HasPrefix(k, "write") {
			n += v
		}
	}
	return n
}

// atRest are all writes, events too.
func atRest(counts map[string]int) int { return writes(counts) + counts["event"] }
