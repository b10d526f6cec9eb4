package observer

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// served at a socket until the test ends.
func served(t *testing.T, o *Observer, ready Ready) *Client {
	t.Helper()
	dir, err := os.MkdirTemp("", "obs") //nolint:usetesting // a socket's path has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "socket")
	// One that was killed leaves its socket.
	if err := os.WriteFile(socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- o.Serve(ctx, socket, ready, slog.New(slog.NewTextHandler(t.Output(), nil))) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-ended, os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
	})
	c := NewClient(socket)
	err = wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		got, err := c.Ready(ctx)
		if err == nil && got != ready {
			t.Errorf("%+v", got)
		}
		return err == nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestServe(t *testing.T) {
	o := observed(t)
	c := served(t, o, Ready{NotPrepared: "the image has no amcheck"})
	if states, err := c.Standbys(t.Context()); err != nil || len(states) != 0 {
		t.Errorf("%v %v", states, err)
	}
	f, err := c.Look(t.Context())
	if err != nil || f.Directory != postgres.Data || len(f.Texts) == 0 {
		t.Errorf("%+v %v", f, err)
	}
	for path := range f.Texts {
		if !strings.HasPrefix(path, "/proc/") && !strings.HasPrefix(path, "/sys/") {
			t.Errorf("%s is no file of the kernel", path)
		}
	}
	f, err = c.Counted(t.Context())
	if err != nil || f.Directory != postgres.Data {
		t.Errorf("%+v %v", f, err)
	}
	if err := c.Chill(t.Context()); err == nil || err.Error() != ErrKeepsCaches.Error() {
		t.Error(err)
	}
	if _, err := ask[struct{}](t.Context(), c, "/query?sql=DROP", answerTimeout); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Error(err)
	}
}

func TestNoObserver(t *testing.T) {
	if _, err := NewClient(filepath.Join(t.TempDir(), "none")).Ready(t.Context()); err == nil {
		t.Error("nobody listens, and it answers")
	}
}
