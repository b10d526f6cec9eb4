package relay

import (
	"fmt"
	"slices"
	"time"
)

// connect to ZeroFS if it is up and there is something to send.
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
	e.relay.flusher.prepare(life, e.name)
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

// window limits the repeated changes that are under way at once.
const window = 64

// pump repeats what is kept, overlapping changes in their order, has it flushed, and then
// sends open requests.
func (e *export) pump() {
	for len(e.repeat) > 0 && len(e.up.sent) < window && !e.collides(e.repeat[0]) {
		e.send(e.repeat[0])
		e.relay.repeated.Add(1)
		e.repeat = e.repeat[1:]
	}
	switch {
	case len(e.repeat) > 0 || len(e.up.sent) > 0:
	case !e.kept.empty():
		e.flushKept()
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

// broken handles a broken connection: ZeroFS has to be restarted.
func (e *export) broken(u *upstream, err error) {
	if u != e.up {
		return
	}
	e.cut()
	e.relay.failed(u.life, fmt.Errorf("export %s: %w", e.name, err))
}

// cut the connection. The next one repeats everything that is kept before it flushes.
func (e *export) cut() {
	if e.up == nil {
		return
	}
	e.up.close()
	e.relay.underWay.Add(-int64(len(e.up.sent)))
	e.up, e.live, e.renew, e.repeat, e.latest, e.own = nil, false, false, nil, 0, own{}
	e.kept.unstored()
	e.open = slices.DeleteFunc(e.open, func(r *request) bool {
		r.on = nil
		if r.client != nil {
			return false
		}
		e.forget(r)
		return true
	})
}
