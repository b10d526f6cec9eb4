package observer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"
)

// Operations, as the paths of requests. None takes an argument.
const (
	pathReady    = "/ready"
	pathStandbys = "/standbys"
	pathLook     = "/look"
	pathCounted  = "/counted"
	pathChill    = "/chill"
	pathUsed     = "/used"
	pathEnd      = "/end"
)

const (
	headerTimeout = 10 * time.Second
	// maxHeader of a request, in bytes: there is nothing in it.
	maxHeader = 8 << 10
)

// Ready is what the runner must know before it begins.
type Ready struct {
	// NotPrepared says why pg_amcheck cannot run; empty where it can.
	NotPrepared string `json:"notPrepared,omitempty"`
}

// Serve the runner at a Unix socket until ctx ends. Requests that are under way then are
// cut off.
func (o *Observer) Serve(ctx context.Context, socket string, ready Ready, log *slog.Logger) error {
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("socket: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	server := &http.Server{
		Handler: o.handler(ready, log), ReadHeaderTimeout: headerTimeout, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (o *Observer) handler(ready Ready, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	answer(mux, pathReady, log, func(context.Context) (Ready, error) { return ready, nil })
	answer(mux, pathStandbys, log, o.Standbys)
	answer(mux, pathLook, log, o.Look)
	answer(mux, pathCounted, log, o.Counted)
	answer(mux, pathUsed, log, o.Used)
	answer(mux, pathEnd, log, func(ctx context.Context) (struct{}, error) { return struct{}{}, o.End(ctx) })
	answer(mux, pathChill, log, func(ctx context.Context) (struct{}, error) { return struct{}{}, o.Chill(ctx) })
	return mux
}

// answer the requests of one path. An error is an answer too: its text.
func answer[T any](mux *http.ServeMux, path string, log *slog.Logger, do func(context.Context) (T, error)) {
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		result, err := do(r.Context())
		if err != nil {
			log.Warn("operation failed", "operation", path, "error", err)
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(result); err != nil {
			log.Warn("operation was not answered", "operation", path, "error", err)
		}
	})
}
