package supervise

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/pgstorage/pgstorage/internal/zerofs"
	"github.com/pgstorage/pgstorage/internal/zerofs/relay"
)

const (
	// checkInterval is how often the supervisor writes the status and checks ZeroFS.
	checkInterval = 10 * time.Second
	// killDelay is how long a ZeroFS that failed a request may take to log the cause, or to
	// exit, before it is killed.
	killDelay = time.Second
	// steady is how long ZeroFS has to be up until its next failure counts as a new one,
	// which restarts the backoff.
	steady = 30 * time.Second
)

// backoff between starts of ZeroFS.
var backoff = wait.Backoff{Duration: time.Second / 4, Factor: 2, Steps: 8, Cap: 3 * time.Second}

// life of the relay, which spans any number of ZeroFS processes. The goroutine of run
// owns every field that is not atomic.
type life struct {
	*Supervisor
	// within is the context of everything in this life.
	within      context.Context
	lock        *os.File
	incarnation zerofs.Incarnation
	relay       *relay.Relay
	board       *board
	events      chan func()
	over        chan struct{}

	// process of ZeroFS; nil while there is none. Other goroutines read current.
	process *process
	current atomic.Pointer[process]
	starts  int
	delay   wait.DelayFunc
	// up since when; zero while ZeroFS does not serve.
	up time.Time
	// marked is true once the file system has the mark of this life.
	marked bool
	// listening is true once clients may connect.
	listening bool
	// last failure; nil once ZeroFS is up again.
	last *zerofs.Failure
	// fenced is true once another server has opened the prefix. It stays so.
	fenced bool
	// stopping since when; zero before a signal asked the server to stop.
	stopping time.Time
	// drained since when; zero until every acknowledged write is flushed and no client is left.
	drained time.Time
	// ended is true once nothing is left to do.
	ended bool
	state zerofs.State
	code  int
}

func newLife(ctx context.Context, s *Supervisor, lock *os.File, i zerofs.Incarnation) *life {
	l := &life{
		Supervisor: s, within: ctx, lock: lock, incarnation: i, events: make(chan func()), over: make(chan struct{}),
		delay: backoff.DelayFunc(), state: zerofs.StateFailed, code: exitFailed,
	}
	l.relay = relay.New(relay.Options{Upstream: s.in(zerofs.UpstreamSocket), Log: s.Log, Failed: func(err error) {
		p := l.current.Load()
		go l.post(func() { l.failed(p, err) })
	}})
	l.board = &board{relay: l.relay, meter: s.Meter, phase: zerofs.ServerStatus{Life: i.ID}}
	return l
}

// post f to the goroutine of run, which drops it after the end.
func (l *life) post(f func()) {
	select {
	case l.events <- f:
	case <-l.over:
	}
}

// run until the end, and return what Supervisor.Run returns.
func (l *life) run() (int, error) {
	defer close(l.over)
	defer l.relay.Close()
	ticker := l.Clock.NewTicker(checkInterval)
	defer ticker.Stop()
	err := l.start()
	for err == nil && !l.ended {
		select {
		case f := <-l.events:
			f()
		case signal := <-l.Signals:
			l.shutDown(signal)
		case <-ticker.C():
			l.check()
		case <-l.within.Done():
			l.abort()
		}
	}
	return l.conclude(err)
}

// start ZeroFS. It fails if ZeroFS cannot start and never served before.
func (l *life) start() error {
	if err := removeUpstream(l.Dir); err != nil {
		return l.notStarted(err)
	}
	var p *process
	p, err := l.launch(l.within, l.lock, func(f *zerofs.Failure) { go l.post(func() { l.died(p, f) }) })
	if err != nil {
		return l.notStarted(err)
	}
	if l.starts++; l.starts > 1 {
		l.board.restarted()
	}
	l.process = p
	l.current.Store(p)
	l.Log.Info("ZeroFS started", "program", l.Command[0], "pid", p.cmd.Process.Pid, "incarnation", l.incarnation.ID, "start", l.starts)
	go func() {
		code := p.wait()
		l.post(func() { l.gone(p, code) })
	}()
	go func() {
		if owner, err := l.reach(p.lives); err == nil {
			l.post(func() { l.reached(p, owner) })
		}
	}()
	l.show()
	return nil
}

func (l *life) notStarted(err error) error {
	failure, ok := errors.AsType[*zerofs.Failure](err)
	if !ok {
		failure = &zerofs.Failure{Reason: zerofs.ReasonServerFailed, Message: err.Error()}
	}
	l.last = failure
	if l.incarnation.Served {
		l.restartLater()
		return nil
	}
	l.end(zerofs.StateFailed, notStarted)
	return failure
}

// restartLater starts ZeroFS again after a backoff.
func (l *life) restartLater() {
	delay := l.delay()
	l.Log.Warn("ZeroFS will be restarted", "after", delay, "reason", l.last.Reason, "message", l.last.Message)
	l.after(delay, func() {
		if l.process == nil && !l.fenced && l.drained.IsZero() {
			_ = l.start()
		}
	})
	l.show()
}

func (l *life) after(delay time.Duration, f func()) {
	timer := l.Clock.NewTimer(delay)
	go func() {
		<-timer.C()
		l.post(f)
	}()
}

// gone handles the exit of ZeroFS.
func (l *life) gone(p *process, code int) {
	l.process = nil
	l.current.Store(nil)
	failure := p.failure(code, l.Secrets)
	l.Log.Info("ZeroFS ended", "exitCode", code, "after", l.Clock.Since(p.begun).Round(time.Millisecond))
	if !l.fenced {
		l.away(failure)
	}
	switch {
	case !l.drained.IsZero(), !l.stopping.IsZero() && !l.listening:
		l.end(l.stopped(code), code)
	case l.fenced, failure.Reason == zerofs.ReasonFenced:
		l.fence(l.last)
	case !l.incarnation.Served:
		l.end(zerofs.StateFailed, code)
	default:
		l.restartLater()
	}
}

// fence ends ZeroFS for good, because another server has opened the prefix and would lose
// it to a restarted ZeroFS. Requests wait until this server is stopped, without an answer.
func (l *life) fence(f *zerofs.Failure) {
	if !l.fenced {
		l.Log.Error("fenced; ZeroFS will not be restarted", "message", f.Message)
	}
	l.fenced = true
	l.away(f)
	switch {
	case l.process != nil:
		l.kill(l.process)
	case !l.stopping.IsZero():
		l.end(zerofs.StateFailed, exitFailed)
	}
}
