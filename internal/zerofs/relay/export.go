package relay

import (
	"slices"
	"sync/atomic"
	"time"
)

// export is one block device. Its loop owns every field that is not atomic. The loop
// never blocks, neither on a client nor on ZeroFS.
type export struct {
	relay *Relay
	name  string
	size  atomic.Uint64
	// oldest is since when the first pending request waits, in Unix time in ns; 0 if none.
	oldest atomic.Int64
	posts  chan func()
	// taken is full while a client is connected. The requests of two clients at a time
	// would mix.
	taken chan struct{}

	client *client
	// open requests are not answered yet, in the order in which they arrived.
	open []*request
	kept journal
	// latest change that ZeroFS has made on the present connection, by the relay's clock.
	latest uint64

	up         *upstream
	connecting bool
	// renew is true if the connection has to be renewed once the requests of an earlier
	// client have ended on it.
	renew bool
	// live is true if up has everything that is kept, and gets new requests.
	live bool
	// since when up is connected.
	since time.Time
	// repeat lists changes to send to up again.
	repeat []*request
	// own is what the relay has to be flushed without being asked by the client.
	own     own
	drained chan struct{}
}

func newExport(r *Relay, name string) *export {
	e := &export{relay: r, name: name, posts: make(chan func(), 64), taken: make(chan struct{}, 1)}
	go e.loop()
	return e
}

func (e *export) loop() {
	for {
		select {
		case f := <-e.posts:
			f()
			e.progress()
			e.oldest.Store(e.waiting())
		case <-e.relay.working.Done():
			if e.up != nil {
				e.up.close()
			}
			return
		}
	}
}

// post f to the loop, which drops it after Close.
func (e *export) post(f func()) {
	select {
	case e.posts <- f:
	case <-e.relay.working.Done():
	}
}

// wait until the loop has run f.
func (e *export) wait(f func()) {
	did := make(chan struct{})
	e.post(func() { f(); close(did) })
	select {
	case <-did:
	case <-e.relay.working.Done():
	}
}

// attach a client. Its requests wait for a new connection, which has the current size of
// the export.
func (e *export) attach(c *client) {
	e.client, e.live, e.renew = c, false, e.up != nil
}

// detach a client that disconnected. It forgets the client's requests that were not sent
// to ZeroFS: the kernel repeats them on its next connection, or fails them.
func (e *export) detach(c *client) {
	if e.client == c {
		e.client = nil
	}
	e.open = slices.DeleteFunc(e.open, func(r *request) bool {
		if r.client != c {
			return false
		}
		r.client = nil
		if r.on != nil {
			return false
		}
		e.forget(r)
		return true
	})
}

// forget a request that no client waits for.
func (e *export) forget(r *request) {
	e.relay.held.Add(-1)
	e.relay.release(r)
}

func (e *export) arrive(r *request) {
	r.number, r.begun = e.relay.arrivals.Add(1), time.Now()
	e.open = append(e.open, r)
	e.relay.held.Add(1)
	if r.op == opFlush {
		e.flush(r)
		return
	}
	e.sendOpen()
}

// sendOpen sends open requests that were not sent yet, oldest first, while there is
// room.
func (e *export) sendOpen() {
	if !e.live {
		return
	}
	for _, r := range e.open {
		if r.on != nil || r.op == opFlush {
			continue
		}
		if !e.relay.admit(r) {
			return
		}
		e.send(r)
	}
}

func (e *export) send(r *request) {
	r.on = e.up
	e.up.send(r)
	e.relay.underWay.Add(1)
}

// progress does what is due after any event.
func (e *export) progress() {
	switch {
	case e.up == nil:
		e.connect()
	case e.renew:
		if len(e.up.sent) == 0 {
			e.cut()
			e.connect()
		}
	case !e.live:
		e.pump()
	}
	if e.drained != nil {
		e.flushOwn()
	}
	if e.drained != nil && len(e.open) == 0 && e.kept.empty() {
		close(e.drained)
		e.drained = nil
	}
}

// waiting returns the value for oldest. It is that of requests of clients, of repeated
// changes, or of what the relay wants flushed on its own account.
func (e *export) waiting() int64 {
	switch {
	case len(e.open) > 0:
		return e.open[0].begun.UnixNano()
	case e.up != nil && len(e.up.sent) > 0 && !e.live:
		return e.since.UnixNano()
	case e.own.mark > 0:
		return e.own.begun.UnixNano()
	}
	return 0
}
