package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/pgstorage/pgstorage/internal/site/report"
)

const (
	// requestTimeout bounds each half of a request: what is sent fits a packet or few.
	requestTimeout = 5 * time.Second
	// shutdownTimeout of requests that are under way when the watcher ends.
	shutdownTimeout = 2 * time.Second
	// maxHeader of a request, in bytes: it needs none.
	maxHeader = 8 << 10
)

// Serve the report by HTTP until ctx ends. It closes the listener.
func (w *Watcher) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler: w.handler(), MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: requestTimeout, ReadTimeout: requestTimeout, WriteTimeout: requestTimeout, IdleTimeout: requestTimeout,
	}
	// A client asks seldom, and a connection without a request takes memory.
	server.SetKeepAlivesEnabled(false)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		_ = server.Close() // what is still under way was given its time
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

func (w *Watcher) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+report.Path, func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "application/json")
		out.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(out).Encode(w.Report()) // a client that left does not read it
	})
	mux.HandleFunc("GET "+report.HealthPath, func(out http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintln(out, "ok")
	})
	return mux
}
