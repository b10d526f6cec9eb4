package relay

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// export is one block device. All that is not atomic belongs to its loop, which never
// waits: not for a client, and not for ZeroFS.
type export struct {
	relay *Relay
	name  string
	size  atomic.Uint64
	// oldest is when the first request began to wait that is not done, in Unix time in ns;
	// 0: none waits.
	oldest atomic.Int64
	posts  chan func()
	// taken by the client that there is. A second one at a time could have requests
	// under way beside those of the first.
	taken chan struct{}

	client *client
	// open requests, in the order in which they came: not answered yet.
	open []*request
	kept journal
	// clock counts the changes that ZeroFS has done.
	clock uint64

	up         *upstream
	connecting bool
	// renew the connection, once nothing of a former client is under way on it.
	renew bool
	// live: up has all that is kept, and gets what comes.
	live bool
	// since when up is there.
	since time.Time
	// repeat is what up has still to be told again.
	repeat []*request
	// own flush that is under way.
	own     *request
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

// post what the loop has to do. After Close nothing is done.
func (e *export) post(f func()) {
	select {
	case e.posts <- f:
	case <-e.relay.working.Done():
	}
}

// wait until the loop has done something.
func (e *export) wait(f func()) {
	did := make(chan struct{})
	e.post(func() { f(); close(did) })
	select {
	case <-did:
	case <-e.relay.working.Done():
	}
}

// attach a client. What comes from it waits for a connection of its own, which has the
// size that ZeroFS has of the export now.
func (e *export) attach(c *client) {
	e.client, e.live, e.renew = c, false, e.up != nil
}

// detach a client that went away. Its requests that ZeroFS has not been sent are
// forgotten: the kernel repeats them on its next connection, or fails them.
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

// forget a request that nobody waits for.
func (e *export) forget(r *request) {
	e.relay.held.Add(-1)
	e.relay.release(r)
}

func (e *export) arrive(r *request) {
	r.number, r.begun = e.relay.arrivals.Add(1), time.Now()
	e.open = append(e.open, r)
	e.relay.held.Add(1)
	e.sendOpen()
}

// sendOpen requests that were not sent yet, in their order, as far as there is room.
func (e *export) sendOpen() {
	if !e.live {
		return
	}
	for _, r := range e.open {
		if r.on != nil {
			continue
		}
		if !e.relay.admit(r) {
			return
		}
		e.send(r)
	}
}

func (e *export) send(r *request) {
	r.mark, r.on = e.clock, e.up
	e.up.send(r)
	e.relay.underWay.Add(1)
}

// progress after anything happened.
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

// waiting since when, as oldest: for what clients asked, for what is repeated, or for a
// flush of the relay's own.
func (e *export) waiting() int64 {
	switch {
	case len(e.open) > 0:
		return e.open[0].begun.UnixNano()
	case e.up != nil && len(e.up.sent) > 0 && !e.live:
		return e.since.UnixNano()
	case e.own != nil:
		return e.own.begun.UnixNano()
	}
	return 0
}

// connect to ZeroFS if it is up, and there is anything to say.
func (e *export) connect() {
	life, up := e.relay.alive()
	if e.connecting || !up || e.client == nil && e.kept.empty() {
		return
	}
	e.connecting = true
	go func() {
		u, err := dial(e.relay.working, e.relay.options.Upstream, e.name)
		e.post(func() { e.connected(life, u, err) })
	}()
}

func (e *export) connected(life uint64, u *upstream, err error) {
	e.connecting = false
	now, up := e.relay.alive()
	switch {
	case err != nil:
	case now != life || !up:
		u.close()
		return
	case u.offer.size < e.size.Load():
		u.close()
		err = fmt.Errorf("export %s has %d bytes, and had %d", e.name, u.offer.size, e.size.Load())
	}
	if err != nil {
		e.relay.failed(life, err)
		return
	}
	u.life = life
	e.size.Store(u.offer.size)
	e.up, e.since, e.repeat = u, time.Now(), slices.Clone(e.kept.list)
	if len(e.repeat) > 0 {
		e.relay.options.Log.Info("repeating what was not flushed", "export", e.name, "requests", len(e.repeat), "bytes", e.kept.bytes)
	}
	go func() {
		err := u.read(func(a answer) { e.post(func() { e.answered(u, a) }) })
		e.post(func() { e.broken(u, err) })
	}()
}

// window of repeated changes that are under way at once.
const window = 64

// pump repeats what is kept, in its order where it matters, flushes it, and then lets
// open requests through.
func (e *export) pump() {
	for len(e.repeat) > 0 && len(e.up.sent) < window && !e.collides(e.repeat[0]) {
		e.send(e.repeat[0])
		e.relay.repeated.Add(1)
		e.repeat = e.repeat[1:]
	}
	switch {
	case len(e.repeat) > 0 || len(e.up.sent) > 0:
	case !e.kept.empty():
		e.flush()
	default:
		e.live = true
		e.sendOpen()
	}
}

func (e *export) collides(r *request) bool {
	for _, other := range e.up.sent {
		if r.overlaps(other) {
			return true
		}
	}
	return false
}

// flushOwn account, where there is anything to flush.
func (e *export) flushOwn() {
	if e.live && !e.kept.empty() && e.own == nil {
		e.flush()
	}
}

// flush on the relay's own account.
func (e *export) flush() {
	e.own = &request{header: header{op: opFlush}, begun: time.Now()}
	e.send(e.own)
}

func (e *export) answered(u *upstream, a answer) {
	if u != e.up {
		return
	}
	r := u.sent[a.cookie]
	if r == nil {
		e.broken(u, fmt.Errorf("ZeroFS answered what it was not asked"))
		return
	}
	delete(u.sent, a.cookie)
	r.on = nil
	e.relay.underWay.Add(-1)
	switch {
	case a.code != 0:
		e.refused(u, r, a.code)
	case r.changes():
		e.stored(r)
	default:
		if r.op == opFlush {
			e.relay.flushed(e.kept.flushed(r.mark))
		}
		e.done(r, 0, a.data)
	}
}

// stored: ZeroFS has done a change, which is durable with the next flush.
func (e *export) stored(r *request) {
	e.clock++
	r.stored = e.clock
	if r.kept {
		return
	}
	r.kept = true
	e.kept.add(r)
	e.remove(r)
	e.relay.unflushed.Add(r.cost())
	e.tell(r, 0, nil)
	e.relay.press()
}

// refused by ZeroFS. Only reads are ever answered so, and not at once: another life of
// ZeroFS may do better.
func (e *export) refused(u *upstream, r *request, code uint32) {
	r.tries++
	if r.op == opRead && r.tries > 1 {
		e.done(r, errIO, nil)
		return
	}
	e.broken(u, fmt.Errorf("ZeroFS answered a request of type %d on export %s with error %d", r.op, e.name, code))
}

// done with a request that is not kept.
func (e *export) done(r *request, code uint32, data []byte) {
	if r == e.own {
		e.own = nil
		return
	}
	e.remove(r)
	e.relay.release(r)
	e.tell(r, code, data)
}

func (e *export) remove(r *request) {
	if i := slices.Index(e.open, r); i >= 0 {
		e.open = slices.Delete(e.open, i, i+1)
		e.relay.held.Add(-1)
	}
}

func (e *export) tell(r *request, code uint32, data []byte) {
	e.relay.count(r)
	if r.client != nil {
		r.client.answer(r, code, data)
		r.client = nil
	}
}

// broken connection: ZeroFS has to be started again.
func (e *export) broken(u *upstream, err error) {
	if u != e.up {
		return
	}
	e.cut()
	e.relay.failed(u.life, fmt.Errorf("export %s: %w", e.name, err))
}

// cut the connection. All that is kept is repeated on the next one before anything is
// flushed there.
func (e *export) cut() {
	if e.up == nil {
		return
	}
	e.up.close()
	e.relay.underWay.Add(-int64(len(e.up.sent)))
	e.up, e.live, e.renew, e.repeat, e.own = nil, false, false, nil, nil
	e.open = slices.DeleteFunc(e.open, func(r *request) bool {
		r.on = nil
		if r.client != nil {
			return false
		}
		e.forget(r)
		return true
	})
}
