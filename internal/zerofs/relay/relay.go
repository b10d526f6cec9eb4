package relay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// DefaultLimit of what is kept, in bytes.
const DefaultLimit = 128 << 20

// Options of a Relay.
type Options struct {
	// Upstream is the path of the Unix socket on which ZeroFS serves NBD.
	Upstream string
	// Limit in bytes of the writes of all exports that are kept or under way; 0 is
	// DefaultLimit. From half of it on the relay flushes by itself; at all of it requests
	// wait, which takes the memory of what the kernel has under way at once.
	Limit int64
	Log   *slog.Logger
	// Failed is told, at most once after each Up, that ZeroFS broke a connection or
	// failed a change, so that it has to be started again. It must not wait.
	Failed func(error)
}

// Relay of all exports of one ZeroFS. It begins without it: see Up.
type Relay struct {
	options Options
	budget  *semaphore.Weighted
	// working ends with Close; reading ends when clients are not read from any more, and readers when none is.
	working, reading context.Context
	cancel, stop     context.CancelFunc
	readers          sync.WaitGroup
	serving          sync.WaitGroup
	// drained is closed once nothing is unflushed, and clients may go.
	drained  chan struct{}
	pressure chan struct{}

	mu        sync.Mutex
	exports   map[string]*export
	conns     map[net.Conn]struct{}
	listeners map[net.Listener]struct{}
	up        bool
	// life of ZeroFS, counted by Up, and a channel that is closed at the next.
	life uint64
	next chan struct{}

	counters
}

// New Relay.
func New(o Options) *Relay {
	if o.Limit == 0 {
		o.Limit = DefaultLimit
	}
	r := &Relay{
		options: o, budget: semaphore.NewWeighted(o.Limit), drained: make(chan struct{}), pressure: make(chan struct{}, 1),
		exports: map[string]*export{}, conns: map[net.Conn]struct{}{}, listeners: map[net.Listener]struct{}{}, next: make(chan struct{}),
	}
	r.working, r.cancel = context.WithCancel(context.Background()) //nolint:forbidigo // its own life: Close ends it
	r.reading, r.stop = context.WithCancel(r.working)
	go r.relieve()
	return r
}

// Up says that ZeroFS listens, in a new life, and that the one before has ended:
// what is kept is repeated to it, and requests that wait go on.
func (r *Relay) Up() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.up = true
	r.life++
	close(r.next)
	r.next = make(chan struct{})
	for _, e := range r.exports {
		go e.post(func() {}) // its loop connects
	}
}

// Down says that ZeroFS is away. After it nothing is sent there, and Failed is not
// called, until Up.
func (r *Relay) Down() {
	r.mu.Lock()
	r.up = false
	all := r.all()
	r.mu.Unlock()
	for _, e := range all {
		e.wait(e.cut)
	}
}

// all exports; mu is held.
func (r *Relay) all() (all []*export) {
	for _, e := range r.exports {
		all = append(all, e)
	}
	return all
}

// alive tells the life of ZeroFS, and whether it is up in it.
func (r *Relay) alive() (life uint64, up bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.life, r.up
}

// failed in a life of ZeroFS. Only its first failure counts.
func (r *Relay) failed(life uint64, err error) {
	r.mu.Lock()
	first := r.up && r.life == life
	if first {
		r.up = false
	}
	r.mu.Unlock()
	if first {
		r.options.Log.Error("ZeroFS failed; requests wait until it was started again", "error", err)
		r.options.Failed(err)
	}
}

// export of a name, which is made where it is new.
func (r *Relay) export(name string) *export {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.exports[name]
	if e == nil {
		e = newExport(r, name)
		r.exports[name] = e
	}
	return e
}

// Drain reads no request any more, waits until those that were read are answered and
// everything is flushed, and disconnects the clients, which can go on elsewhere then.
// It takes as long as ZeroFS does, or is away. The end of ctx is an error, which says
// what is not flushed; the relay then is to be closed.
func (r *Relay) Drain(ctx context.Context) error {
	r.halt()
	r.readers.Wait()
	r.mu.Lock()
	all := r.all()
	r.mu.Unlock()
	for _, e := range all {
		drained := make(chan struct{})
		e.post(func() { e.drained = drained })
		select {
		case <-drained:
		case <-r.working.Done():
			return errors.New("the relay was closed while it drained")
		case <-ctx.Done():
			s := r.Stats()
			return fmt.Errorf("%d bytes are not flushed, %d requests not answered: %w", s.Unflushed, s.Held, context.Cause(ctx))
		}
	}
	close(r.drained)
	r.serving.Wait()
	r.Close()
	return nil
}

// halt reading.
func (r *Relay) halt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop()
	for l := range r.listeners {
		_ = l.Close()
	}
	for c := range r.conns {
		_ = c.SetReadDeadline(time.Now())
	}
}

// Close disconnects everybody. What is kept is lost.
func (r *Relay) Close() {
	r.halt()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel()
	for c := range r.conns {
		_ = c.Close()
	}
}

// admit a request if there is room for it. If not, it is tried again when something was
// released.
func (r *Relay) admit(q *request) bool {
	if !q.admitted {
		q.admitted = r.budget.TryAcquire(r.room(q))
	}
	if !q.admitted {
		r.crowded.Store(true)
	}
	return q.admitted
}

// room that a request takes: at most all there is.
func (r *Relay) room(q *request) int64 { return min(q.cost(), r.options.Limit) }

func (r *Relay) release(q *request) {
	if q.admitted {
		q.admitted = false
		r.budget.Release(r.room(q))
	}
	r.press()
}

// flushed requests are kept no more.
func (r *Relay) flushed(all []*request) {
	for _, q := range all {
		r.unflushed.Add(-q.cost())
		r.release(q)
	}
}

// press for room, from half of the limit on, and where a request waits for some.
func (r *Relay) press() {
	if r.unflushed.Load() <= r.options.Limit/2 && !r.crowded.Load() {
		return
	}
	select {
	case r.pressure <- struct{}{}:
	default: // a pass over the exports begins anyway
	}
}

// relieve the memory where it is pressed for: each export flushes what it keeps, and
// sends what has found room meanwhile.
func (r *Relay) relieve() {
	for {
		select {
		case <-r.pressure:
		case <-r.working.Done():
			return
		}
		r.crowded.Store(false) // whoever still waits says so again
		r.mu.Lock()
		all := r.all()
		r.mu.Unlock()
		for _, e := range all {
			e.wait(func() { e.flushOwn(); e.sendOpen() })
		}
	}
}

// counters of a Relay since its begin.
type counters struct {
	arrivals                    atomic.Uint64
	held, underWay, unflushed   atomic.Int64
	reads, readBytes            atomic.Int64
	writes, writtenBytes, trims atomic.Int64
	flushes, flushTime          atomic.Int64
	repeated                    atomic.Int64
	crowded                     atomic.Bool
}

// Stats of a Relay. Counts are since its begin.
type Stats struct {
	// Unflushed bytes are kept; Held requests were read and are not answered; of these,
	// UnderWay ones were sent to ZeroFS, and so were repeated ones.
	Unflushed, Held, UnderWay int64
	// Clients that are connected.
	Clients int
	// Waiting exports, and since when the oldest request of each waits that ZeroFS has not
	// done, although others may have been answered since.
	Waiting map[string]time.Time

	Reads, ReadBytes, Writes, WrittenBytes, Trims, Flushes int64
	// FlushTime of all flushes that clients asked for.
	FlushTime time.Duration
	// Repeated changes.
	Repeated int64
}

// Stats of now.
func (r *Relay) Stats() Stats {
	r.mu.Lock()
	clients, waiting := len(r.conns), map[string]time.Time{}
	for name, e := range r.exports {
		if at := e.oldest.Load(); at != 0 {
			waiting[name] = time.Unix(0, at)
		}
	}
	r.mu.Unlock()
	return Stats{
		Unflushed: r.unflushed.Load(), Held: r.held.Load(), UnderWay: r.underWay.Load(), Clients: clients, Waiting: waiting,
		Reads: r.reads.Load(), ReadBytes: r.readBytes.Load(), Writes: r.writes.Load(), WrittenBytes: r.writtenBytes.Load(),
		Trims: r.trims.Load(), Flushes: r.flushes.Load(), FlushTime: time.Duration(r.flushTime.Load()), Repeated: r.repeated.Load(),
	}
}

// count a request that was answered.
func (c *counters) count(q *request) {
	switch q.op {
	case opRead:
		c.reads.Add(1)
		c.readBytes.Add(int64(q.length))
	case opWrite:
		c.writes.Add(1)
		c.writtenBytes.Add(int64(q.length))
	case opTrim:
		c.trims.Add(1)
	case opFlush:
		c.flushes.Add(1)
		c.flushTime.Add(int64(time.Since(q.begun)))
	}
}
