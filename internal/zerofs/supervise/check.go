package supervise

import (
	"fmt"
	"time"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

const (
	// silenceLimit is how long ZeroFS may leave a request pending until it is restarted.
	silenceLimit = 10 * time.Minute
	// holdLimit is how long it may do so until the server reports that it holds requests. A store
	// that is silent breaks no connection and gives no error.
	holdLimit = 30 * time.Second
	// closeLimit is how long ZeroFS may take to exit once everything is flushed. ZeroFS 0.19.1 once took
	// 170 s with all threads idle, and another server of the prefix waited with it.
	closeLimit = time.Minute
)

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// check ends a ZeroFS that does not answer or does not exit, which may happen without an error.
func (l *life) check() {
	if !l.stopping.IsZero() && l.drained.IsZero() {
		l.Log.Info("still flushing", "for", l.Clock.Since(l.stopping).Round(time.Second), "unflushedBytes", l.relay.Stats().Unflushed)
	}
	switch export, waited := l.longest(); {
	case l.process == nil:
	case !l.drained.IsZero():
		l.closing()
	case l.up.IsZero() && l.Clock.Since(l.process.begun) > silenceLimit:
		l.failed(l.process, fmt.Errorf("ZeroFS does not serve after %s", silenceLimit))
	case waited > silenceLimit:
		l.failed(l.process, fmt.Errorf("a request on export %s has waited for %s", export, silenceLimit))
	}
	l.show()
}

// closing kills a ZeroFS that does not exit. Nothing is lost, because everything is flushed.
func (l *life) closing() {
	took := l.Clock.Since(l.drained)
	l.Log.Info("ZeroFS has flushed everything, and still runs", "for", took.Round(time.Second))
	if took > closeLimit {
		l.kill(l.process)
	}
}

// longest is the export whose request has waited longest since ZeroFS serves, and how long.
func (l *life) longest() (export string, waited time.Duration) {
	if l.up.IsZero() {
		return "", 0
	}
	for name, since := range l.relay.Stats().Waiting {
		if w := l.Clock.Since(latest(since, l.up)); w > waited {
			export, waited = name, w
		}
	}
	return export, waited
}

// show writes the status.
func (l *life) show() {
	phase, why := l.phase()
	l.board.enter(phase, why, l.Clock.Now())
	if err := l.board.show(l.Dir, l.Clock.Now()); err != nil {
		l.Log.Warn("cannot write the status", "error", err)
	}
}

// phase is that of the server, and why, if it failed.
func (l *life) phase() (zerofs.Phase, *zerofs.Failure) {
	switch _, waited := l.longest(); {
	case l.fenced:
		return zerofs.PhaseFenced, l.last
	case !l.stopping.IsZero():
		return zerofs.PhaseStopping, l.last
	case waited > holdLimit:
		return zerofs.PhaseHolding, l.complete(&zerofs.Failure{Reason: zerofs.ReasonStoreLost, Message: fmt.Sprintf(
			"ZeroFS runs, and has not answered a request for more than %s; the store may be silent", holdLimit)})
	case !l.up.IsZero():
		return zerofs.PhaseServing, l.last
	case l.listening:
		return zerofs.PhaseHolding, l.last
	}
	return zerofs.PhaseStarting, l.last
}
