package supervise

import (
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// failed ends a ZeroFS that failed, so that it is restarted.
func (l *life) failed(p *process, err error) {
	if p == nil || p != l.process || p.broken != nil || !l.drained.IsZero() || l.fenced {
		return
	}
	p.broken = err
	l.away(&zerofs.Failure{Reason: zerofs.ReasonServerFailed, Message: err.Error()})
	l.after(killDelay, func() { l.kill(p) })
}

// died ends a ZeroFS whose database died. It would keep its sockets open and fail every
// request indefinitely.
func (l *life) died(p *process, f *zerofs.Failure) {
	if p != l.process {
		return
	}
	l.Log.Error("the database of ZeroFS died; ending ZeroFS", "reason", f.Reason)
	p.broken = f
	l.away(f)
	l.kill(p)
}

// away stops sending to ZeroFS until it serves again.
func (l *life) away(f *zerofs.Failure) {
	l.relay.Down()
	if !l.up.IsZero() && l.Clock.Since(l.up) > steady {
		l.delay = backoff.DelayFunc()
	}
	l.up, l.last = time.Time{}, l.complete(f)
	l.show()
}

// complete adds the meter's cause to a failure of the store. Through a meter ZeroFS knows
// only that there was no answer.
func (l *life) complete(f *zerofs.Failure) *zerofs.Failure {
	if l.Meter == nil || f.Reason != zerofs.ReasonEndpointUnreachable && f.Reason != zerofs.ReasonStoreLost {
		return f
	}
	why := l.Meter.Silence()
	if why == nil || strings.Contains(f.Message, why.Error()) {
		return f
	}
	return &zerofs.Failure{Reason: f.Reason, Message: why.Error() + "; " + f.Message}
}

func (l *life) kill(p *process) {
	if p != l.process {
		return
	}
	if err := p.cmd.Process.Kill(); err != nil {
		l.Log.Warn("cannot kill ZeroFS", "error", err)
	}
}
