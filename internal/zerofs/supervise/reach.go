package supervise

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"time"

	"github.com/pgstorage/pgstorage/internal/zerofs"
	"github.com/pgstorage/pgstorage/internal/zerofs/exports"
)

// askEvery is how often a ZeroFS that starts is asked whether it serves.
const askEvery = 100 * time.Millisecond

func (s *Supervisor) files() *exports.Client {
	return &exports.Client{Socket: s.in(zerofs.NinePSocket)}
}

// in the folder of the server.
func (s *Supervisor) in(name string) string { return filepath.Join(s.Dir, name) }

// reach ZeroFS, however long it takes to start. The result is the mark of the last
// owner of its file system, empty without one. It fails when the context ends.
func (s *Supervisor) reach(ctx context.Context) (owner string, err error) {
	again := s.Clock.NewTicker(askEvery)
	defer again.Stop()
	for {
		owner, err = s.ask(ctx)
		if err == nil {
			return owner, nil
		}
		select {
		case <-ctx.Done():
			return "", err
		case <-again.C():
		}
	}
}

func (s *Supervisor) ask(ctx context.Context) (owner string, err error) {
	owner, err = s.files().Owner(ctx)
	if err != nil && !errors.Is(err, exports.ErrNoOwner) {
		return "", err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", s.in(zerofs.UpstreamSocket))
	if err != nil {
		return "", err
	}
	return owner, conn.Close()
}
