package observer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
)

const (
	// answerTimeout bounds an operation that waits for no storage.
	answerTimeout = 2 * queryTimeout
	// maxAnswer in bytes: some thousand small files.
	maxAnswer = 64 << 20
	maxError  = 2000
)

// Client asks an Observer at its socket.
type Client struct{ http *http.Client }

// NewClient of the observer at a Unix socket.
func NewClient(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	return &Client{http: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// Ready once the observer listens.
func (c *Client) Ready(ctx context.Context) (Ready, error) {
	return ask[Ready](ctx, c, pathReady, answerTimeout)
}

// Standbys of the server: the sync_state of each.
func (c *Client) Standbys(ctx context.Context) ([]string, error) {
	return ask[[]string](ctx, c, pathStandbys, answerTimeout)
}

// Look reads the files about the server's pod and node.
func (c *Client) Look(ctx context.Context) (Files, error) {
	return ask[Files](ctx, c, pathLook, answerTimeout)
}

// Counted are the files in which the server's kernel counts what is written.
func (c *Client) Counted(ctx context.Context) (Files, error) {
	return ask[Files](ctx, c, pathCounted, answerTimeout)
}

// Chill empties the caches. The caller's ctx bounds it.
func (c *Client) Chill(ctx context.Context) error {
	_, err := ask[struct{}](ctx, c, pathChill, 0)
	return err
}

// Used is what the server takes of its volumes.
func (c *Client) Used(ctx context.Context) (spec.Used, error) {
	return ask[spec.Used](ctx, c, pathUsed, answerTimeout)
}

// End the sessions of the benchmark's role.
func (c *Client) End(ctx context.Context) error {
	_, err := ask[struct{}](ctx, c, pathEnd, answerTimeout)
	return err
}

func ask[T any](ctx context.Context, c *Client, path string, timeout time.Duration) (result T, err error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://observer"+path, http.NoBody)
	if err != nil {
		return result, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return result, fmt.Errorf("observer: %w", err)
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		text, err := io.ReadAll(io.LimitReader(response.Body, maxError))
		return result, errors.Join(errors.New(strings.TrimSpace(string(text))), err)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(&result); err != nil {
		return result, fmt.Errorf("observer: %w", err)
	}
	return result, nil
}
