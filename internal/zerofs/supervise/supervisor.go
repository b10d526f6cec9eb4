package supervise

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/clock"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// exitFailed is the exit code of a server that failed, where ZeroFS has none.
const exitFailed = 1

// Supervisor of one server. Each is run once.
type Supervisor struct {
	// Dir of the server's sockets, of its incarnation and of its status.
	Dir string
	// Command is ZeroFS and its arguments. It must serve NBD on zerofs.UpstreamSocket and
	// 9P on zerofs.NinePSocket in Dir.
	Command []string
	// Stdout and Stderr take what ZeroFS writes, without Secrets.
	Stdout, Stderr io.Writer
	Secrets        zerofs.Secrets
	// TerminationLog takes why the server failed. Empty: nothing does.
	TerminationLog string
	// Prometheus is the address, host:port, of the metrics. Empty: none.
	Prometheus string
	// Meter counts what goes to the store; nil: nothing is counted.
	Meter Meter
	// Signals to end by; the first one counts.
	Signals <-chan os.Signal
	Log     *slog.Logger
	Clock   clock.WithTicker
}

// Run the server until it is stopped and has flushed everything, however long that
// takes. The sender of the signal bounds it. Run starts ZeroFS again whenever it ends,
// unless it never served: that is for the kubelet, which has the store checked first.
// The result is 0 if the server ended as it should, and else the exit code of ZeroFS,
// or 127 if nothing was started. It fails if nothing was started, or if the end could
// not be recorded, which then counts as unclean. The end of ctx kills everything at
// once.
func (s *Supervisor) Run(ctx context.Context) (code int, err error) {
	lock, err := prepare(ctx, s.Dir)
	if err != nil {
		return notStarted, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	incarnation, err := s.begin()
	if err != nil {
		return notStarted, err
	}
	l := newLife(ctx, s, lock, incarnation)
	defer s.metrics(func() zerofs.ServerStatus { return l.board.status(s.Clock.Now()) })()
	return l.run()
}

// begin a new incarnation: from here on the server counts as unclean until its end
// proves otherwise.
func (s *Supervisor) begin() (zerofs.Incarnation, error) {
	boot, err := bootID()
	if err != nil {
		return zerofs.Incarnation{}, err
	}
	i := zerofs.Incarnation{
		ID: string(uuid.NewUUID()), BootID: boot, StartedAt: s.Clock.Now().UTC(),
		State: zerofs.StateRunning,
	}
	switch last, err := zerofs.ReadIncarnation(s.Dir); {
	case err == nil:
		i.Inherits = last.Bequest()
		s.Log.Info("previous server", "incarnation", last.ID, "state", last.State, "served", last.Served, "inherits", len(i.Inherits))
	case !errors.Is(err, os.ErrNotExist):
		s.Log.Warn("previous server is not known", "error", err)
	}
	return i, zerofs.WriteIncarnation(s.Dir, i)
}

// served records that clients may connect from now on. It inherits from a former life
// only if the file system has the mark of that life, or of one that inherited it. Any
// other mark means another writer.
func (s *Supervisor) served(i *zerofs.Incarnation, owner string) error {
	if len(i.Inherits) > 0 && owner != i.ID && !slices.Contains(i.Inherits, owner) {
		s.Log.Warn("another server used the prefix meanwhile; nothing is inherited", "mark", owner)
		i.Inherits = nil
	}
	i.Served = true
	return zerofs.WriteIncarnation(s.Dir, *i)
}

// report why the server failed. The log has it too, so that a lost report is not a
// failure.
func (s *Supervisor) report(f *zerofs.Failure) {
	if s.TerminationLog == "" {
		return
	}
	if err := f.Report(s.TerminationLog); err != nil {
		s.Log.Warn("cannot report the failure to the kubelet", "error", err)
	}
}
