package supervise

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/pgstorage/pgstorage/internal/zerofs"
	"github.com/pgstorage/pgstorage/internal/zerofs/relay"
)

const (
	// lookEvery is how often the status is shown, and ZeroFS looked after.
	lookEvery = 10 * time.Second
	// lastWords is how long a ZeroFS that failed a request may take to say why, or to
	// end by itself, before it is killed.
	lastWords = time.Second
	// steady is how long ZeroFS has to be up until its next failure is taken for a new
	// one, which it is started again after at once.
	steady = 30 * time.Second
)

// backoff of starts of ZeroFS.
var backoff = wait.Backoff{Duration: time.Second / 4, Factor: 2, Steps: 8, Cap: 3 * time.Second}

// life of the relay, over however many lives of ZeroFS. What is not atomic belongs to
// the goroutine of run.
type life struct {
	*Supervisor
	// within which all happens.
	within      context.Context
	lock        *os.File
	incarnation zerofs.Incarnation
	relay       *relay.Relay
	board       *board
	events      chan func()
	over        chan struct{}

	// process of ZeroFS; nil while there is none. Others see it as current.
	process *process
	current atomic.Pointer[process]
	starts  int
	delay   wait.DelayFunc
	// up since when; zero while ZeroFS does not serve.
	up time.Time
	// marked: the file system has the mark of this life.
	marked bool
	// listening: clients were let in.
	listening bool
	// last failure; nil once ZeroFS is up again.
	last *zerofs.Failure
	// fenced: another server has the prefix. For good.
	fenced bool
	// told to end, when. Zero: it was not.
	told time.Time
	// drained: everything that was acknowledged is flushed, and no client is left.
	drained bool
	// ended: nothing is to be done any more.
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

// post what is to be done by the goroutine of run. After the end nothing is.
func (l *life) post(f func()) {
	select {
	case l.events <- f:
	case <-l.over:
	}
}

// run until the end. The result is as of Supervisor.Run.
func (l *life) run() (int, error) {
	defer close(l.over)
	defer l.relay.Close()
	look := l.Clock.NewTicker(lookEvery)
	defer look.Stop()
	err := l.start()
	for err == nil && !l.ended {
		select {
		case f := <-l.events:
			f()
		case signal := <-l.Signals:
			l.tell(signal)
		case <-look.C():
			l.look()
		case <-l.within.Done():
			l.abort()
		}
	}
	return l.conclude(err)
}

// start ZeroFS. It fails if it cannot, and was never reached before.
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
		l.retry()
		return nil
	}
	l.end(zerofs.StateFailed, notStarted)
	return failure
}

// retry to start ZeroFS after a while.
func (l *life) retry() {
	delay := l.delay()
	l.Log.Warn("ZeroFS is started again", "after", delay, "reason", l.last.Reason, "message", l.last.Message)
	l.after(delay, func() {
		if l.process == nil && !l.fenced && !l.drained {
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

// reached a ZeroFS that was started, whose file system has the mark of an owner.
func (l *life) reached(p *process, owner string) {
	switch {
	case p != l.process || p.broken != nil || l.fenced || !l.told.IsZero() && !l.listening:
	case l.marked && owner == l.incarnation.ID:
		l.serve()
	case l.marked:
		l.fence(&zerofs.Failure{Reason: zerofs.ReasonFenced, Message: fmt.Sprintf(
			"another server used this prefix while ZeroFS was away: its mark is %q and not %q; a prefix must have one server", owner, l.incarnation.ID)})
	default:
		l.mark(p, owner)
	}
}

// mark the file system as this life's.
func (l *life) mark(p *process, owner string) {
	if err := l.served(&l.incarnation, owner); err != nil {
		l.failed(p, err)
		return
	}
	go func() {
		err := l.files().SetOwner(p.lives, l.incarnation.ID)
		l.post(func() {
			switch {
			case p != l.process || p.broken != nil || l.fenced || !l.told.IsZero():
			case err != nil:
				l.failed(p, err)
			default:
				l.marked = true
				l.serve()
			}
		})
	}()
}

// serve by a ZeroFS that was reached.
func (l *life) serve() {
	l.last, l.up = nil, l.Clock.Now()
	l.relay.Up()
	if !l.listening {
		l.listen()
	}
	l.show()
}

func (l *life) listen() {
	listener, err := net.Listen("unix", l.in(zerofs.NBDSocket))
	if err != nil {
		l.failed(l.process, err)
		return
	}
	l.listening = true
	go func() {
		if err := l.relay.Serve(listener); err != nil {
			l.Log.Error("no more clients are let in", "error", err)
		}
	}()
}

// failed: ZeroFS is to be ended, and started again.
func (l *life) failed(p *process, err error) {
	if p == nil || p != l.process || p.broken != nil || l.drained || l.fenced {
		return
	}
	p.broken = err
	l.away(&zerofs.Failure{Reason: zerofs.ReasonServerFailed, Message: err.Error()})
	l.after(lastWords, func() { l.kill(p) })
}

// died: ZeroFS lives on without its database, with open sockets, and fails whatever is
// asked of it, for ever.
func (l *life) died(p *process, f *zerofs.Failure) {
	if p != l.process {
		return
	}
	l.Log.Error("the database of ZeroFS died; ending ZeroFS", "reason", f.Reason)
	p.broken = f
	l.away(f)
	l.kill(p)
}

// away: nothing goes to ZeroFS until it serves again.
func (l *life) away(f *zerofs.Failure) {
	l.relay.Down()
	if !l.up.IsZero() && l.Clock.Since(l.up) > steady {
		l.delay = backoff.DelayFunc()
	}
	l.up, l.last = time.Time{}, l.complete(f)
	l.show()
}

// complete what ZeroFS said of its store: through a meter it knows no more than that
// there was no answer.
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
		l.Log.Warn("ZeroFS cannot be ended", "error", err)
	}
}

// gone: ZeroFS has ended.
func (l *life) gone(p *process, code int) {
	l.process = nil
	l.current.Store(nil)
	failure := p.failure(code, l.Secrets)
	l.Log.Info("ZeroFS ended", "exitCode", code, "after", l.Clock.Since(p.begun).Round(time.Millisecond))
	if !l.fenced {
		l.away(failure)
	}
	switch {
	case l.drained, !l.told.IsZero() && !l.listening:
		l.end(l.stopped(code), code)
	case l.fenced, failure.Reason == zerofs.ReasonFenced:
		l.fence(l.last)
	case !l.incarnation.Served:
		l.end(zerofs.StateFailed, code)
	default:
		l.retry()
	}
}

// fence: another server has the prefix. It would lose it to a ZeroFS that is started
// again. Requests wait until this server is told to end, and are not answered then either.
func (l *life) fence(f *zerofs.Failure) {
	if !l.fenced {
		l.Log.Error("fenced; ZeroFS is not started again", "message", f.Message)
	}
	l.fenced = true
	l.away(f)
	switch {
	case l.process != nil:
		l.kill(l.process)
	case !l.told.IsZero():
		l.end(zerofs.StateFailed, exitFailed)
	}
}

// silenceLimit is how long ZeroFS may leave a request undone.
const silenceLimit = 10 * time.Minute

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// look after ZeroFS, which can fall silent without an error.
func (l *life) look() {
	if !l.told.IsZero() {
		l.Log.Info("still flushing", "for", l.Clock.Since(l.told).Round(time.Second), "unflushedBytes", l.relay.Stats().Unflushed)
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

// show the status.
func (l *life) show() {
	l.board.enter(l.phase(), l.last, l.Clock.Now())
	if err := l.board.show(l.Dir, l.Clock.Now()); err != nil {
		l.Log.Warn("the status is not shown", "error", err)
	}
}

func (l *life) phase() zerofs.Phase {
	switch {
	case l.fenced:
		return zerofs.PhaseFenced
	case !l.told.IsZero():
		return zerofs.PhaseStopping
	case !l.up.IsZero():
		return zerofs.PhaseServing
	case l.listening:
		return zerofs.PhaseHolding
	}
	return zerofs.PhaseStarting
}
