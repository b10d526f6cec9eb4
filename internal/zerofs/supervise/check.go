package supervise

import (
	"fmt"
	"time"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// silenceLimit is how long ZeroFS may leave a request pending.
const silenceLimit = 10 * time.Minute

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// check ends a ZeroFS that does not answer, which may happen without an error.
func (l *life) check() {
	if !l.stopping.IsZero() {
		l.Log.Info("still flushing", "for", l.Clock.Since(l.stopping).Round(time.Second), "unflushedBytes", l.relay.Stats().Unflushed)
	}
	now := l.Clock.Now()
	switch {
	case l.process == nil:
	case l.up.IsZero() && now.Sub(l.process.begun) > silenceLimit:
		l.failed(l.process, fmt.Errorf("ZeroFS does not serve after %s", silenceLimit))
	case !l.up.IsZero():
		for export, since := range l.relay.Stats().Waiting {
			if now.Sub(latest(since, l.up)) > silenceLimit {
				l.failed(l.process, fmt.Errorf("a request on export %s has waited for %s", export, silenceLimit))
			}
		}
	}
	l.show()
}

// show writes the status.
func (l *life) show() {
	l.board.enter(l.phase(), l.last, l.Clock.Now())
	if err := l.board.show(l.Dir, l.Clock.Now()); err != nil {
		l.Log.Warn("cannot write the status", "error", err)
	}
}

func (l *life) phase() zerofs.Phase {
	switch {
	case l.fenced:
		return zerofs.PhaseFenced
	case !l.stopping.IsZero():
		return zerofs.PhaseStopping
	case !l.up.IsZero():
		return zerofs.PhaseServing
	case l.listening:
		return zerofs.PhaseHolding
	}
	return zerofs.PhaseStarting
}
