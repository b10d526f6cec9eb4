package relay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// DefaultLimit is the default of Options.Limit in bytes.
const DefaultLimit = 128 << 20

// Options of a Relay.
type Options struct {
	// Upstream is the path of the Unix socket on which ZeroFS serves NBD.
	Upstream string
	// Limit in bytes of the writes of all exports that are kept or under way. Default:
	// DefaultLimit. From half of it on the relay flushes on its own; at the limit requests
	// wait in the kernel's memory.
	Limit int64
	Log   *slog.Logger
	// Failed is called, at most once after each Up, when ZeroFS broke a connection or failed
	// a change and so has to be restarted. It must not block.
	Failed func(error)
}

// Relay of all exports of one ZeroFS. It starts without ZeroFS: see Up.
type Relay struct {
	options Options
	budget  *semaphore.Weighted
	// working ends with Close. reading ends with Drain; readers then waits for the last one.
	working, reading context.Context
	cancel, stop     context.CancelFunc
	readers          sync.WaitGroup
	serving          sync.WaitGroup
	// drained is closed once everything is flushed, and clients may disconnect.
	drained  chan struct{}
	pressure chan struct{}
	flusher  flusher

	mu        sync.Mutex
	exports   map[string]*export
	conns     map[net.Conn]struct{}
	listeners map[net.Listener]struct{}
	up        bool
	// life of ZeroFS, counted by Up. next is closed when the next one begins.
	life uint64
	next chan struct{}

	counters
}

// New returns a running Relay that does not know ZeroFS yet.
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
	r.flusher.relay = r
	go r.relieve()
	return r
}

// Up reports that ZeroFS listens in a new life, and that the life before has ended. The
// relay repeats to it what it keeps, and sends requests that wait.
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

// Down reports that ZeroFS is away. Until Up the relay sends nothing to it, and does not
// call Failed.
func (r *Relay) Down() {
	r.mu.Lock()
	r.up = false
	r.mu.Unlock()
	r.flusher.cut()
	r.each(func(e *export) { e.wait(e.cut) })
}

// each calls f with every export, without a lock.
func (r *Relay) each(f func(*export)) {
	r.mu.Lock()
	all := slices.Collect(maps.Values(r.exports))
	r.mu.Unlock()
	for _, e := range all {
		f(e)
	}
}

// alive returns the life of ZeroFS, and whether it is up.
func (r *Relay) alive() (life uint64, up bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.life, r.up
}

// failed reports a failure of ZeroFS. Only the first in each life counts.
func (r *Relay) failed(life uint64, err error) {
	r.mu.Lock()
	first := r.up && r.life == life
	if first {
		r.up = false
	}
	r.mu.Unlock()
	if first {
		r.options.Log.Error("ZeroFS failed; requests wait until it is restarted", "error", err)
		r.options.Failed(err)
	}
}

// export returns the export of that name, and creates it on first use.
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

// Drain stops reading requests, waits until all that were read are answered and flushed,
// and disconnects the clients, which can then continue elsewhere. It waits as long as
// ZeroFS is slow or away. When ctx ends, the error reports what is not flushed, and the
// caller should Close the relay.
func (r *Relay) Drain(ctx context.Context) error {
	r.halt()
	r.readers.Wait()
	var all []chan struct{}
	r.each(func(e *export) {
		drained := make(chan struct{})
		e.post(func() { e.drained = drained })
		all = append(all, drained)
	})
	for _, drained := range all {
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

// halt stops reading.
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

// Close disconnects all clients. Writes that are not flushed are lost.
func (r *Relay) Close() {
	r.halt()
	r.flusher.cut()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel()
	for c := range r.conns {
		_ = c.Close()
	}
}
