package supervise

import (
	"context"
	"errors"
	"os"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// shutDown flushes everything, then stops ZeroFS and the server.
func (l *life) shutDown(signal os.Signal) {
	if !l.stopping.IsZero() {
		l.Log.Info("signalled again; still flushing", "signal", signal.String())
		return
	}
	l.stopping = l.Clock.Now()
	l.Log.Info("stopping after everything is flushed", "signal", signal.String())
	switch {
	case l.fenced:
		l.fence(l.last)
	case l.listening:
		go func() {
			err := l.relay.Drain(l.within)
			l.post(func() { l.flushed(signal, err) })
		}()
	default:
		l.stop(signal)
	}
	l.show()
}

// flushed continues the shutdown once the relay has flushed everything.
func (l *life) flushed(signal os.Signal, err error) {
	if err != nil {
		l.Log.Error("not everything is flushed", "error", err)
		return
	}
	l.drained = l.Clock.Now()
	// From here on nothing is lost, even if ZeroFS does not end before it is killed.
	l.incarnation.State = zerofs.StateStopped
	if err := zerofs.WriteIncarnation(l.Dir, l.incarnation); err != nil {
		l.Log.Warn("cannot record the clean shutdown yet", "error", err)
	}
	l.stop(signal)
}

// stop ZeroFS cleanly, and with it the server.
func (l *life) stop(signal os.Signal) {
	if l.process == nil {
		l.end(zerofs.StateStopped, 0)
		return
	}
	if err := l.process.cmd.Process.Signal(signal); err != nil {
		l.Log.Warn("cannot signal ZeroFS", "error", err)
	}
}

// abort ends everything without flushing.
func (l *life) abort() {
	if p := l.process; p != nil {
		l.kill(p)
		<-p.lives.Done()
	}
	l.last = &zerofs.Failure{Reason: zerofs.ReasonServerFailed, Message: context.Cause(l.within).Error()}
	if !l.drained.IsZero() {
		l.end(zerofs.StateStopped, exitFailed)
		return
	}
	l.end(zerofs.StateFailed, exitFailed)
}

// stopped is how a server ended after a request to stop. It has flushed what it
// acknowledged, if anything. ZeroFS exits with another code than 0 if its last flush,
// of nothing, or the closing of its database failed. See run_server in
// zerofs/src/cli/server.rs of 0.19.1 and 2.3.0. One that never served may not be able
// to.
func (l *life) stopped(code int) zerofs.State {
	if l.fenced || !l.incarnation.Served && code != 0 {
		return zerofs.StateFailed
	}
	return zerofs.StateStopped
}

// conclude the life, of which nothing runs any more.
func (l *life) conclude(err error) (int, error) {
	code := l.code
	if l.state == zerofs.StateStopped {
		l.Log.Info("server stopped, and flushed everything", "exitCode", l.code)
		code = 0
	} else if l.last != nil {
		l.Log.Error("server failed", "exitCode", l.code, "stopping", !l.stopping.IsZero(), "reason", l.last.Reason, "message", l.last.Message)
		l.report(l.last)
	}
	l.incarnation.State, l.incarnation.ExitCode = l.state, &l.code
	return code, errors.Join(err, zerofs.WriteIncarnation(l.Dir, l.incarnation))
}

func (l *life) end(state zerofs.State, code int) {
	l.ended, l.state, l.code = true, state, code
}
