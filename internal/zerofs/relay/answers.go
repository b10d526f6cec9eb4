package relay

import (
	"errors"
	"fmt"
	"slices"
)

func (e *export) answered(u *upstream, a answer) {
	if u != e.up {
		return
	}
	r := u.sent[a.cookie]
	if r == nil {
		e.broken(u, errors.New("ZeroFS answered a request that it was not sent"))
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
		e.done(r, 0, a.data)
	}
}

// stored acknowledges a change that ZeroFS has made. It is durable with the next flush.
func (e *export) stored(r *request) {
	r.stored = e.relay.clock.Add(1)
	e.latest = r.stored
	if r.kept {
		return
	}
	r.kept = true
	e.kept.add(r)
	e.remove(r)
	e.relay.unflushed.Add(r.cost())
	e.reply(r, 0, nil)
	e.relay.press()
}

// refused handles an error of ZeroFS. The client gets errors only for reads, and only the
// second time: another life of ZeroFS may succeed.
func (e *export) refused(u *upstream, r *request, code uint32) {
	r.tries++
	if r.op == opRead && r.tries > 1 {
		e.done(r, errIO, nil)
		return
	}
	e.broken(u, fmt.Errorf("ZeroFS answered a request of type %d on export %s with error %d", r.op, e.name, code))
}

// done answers a request that is not kept.
func (e *export) done(r *request, code uint32, data []byte) {
	e.remove(r)
	e.relay.release(r)
	e.reply(r, code, data)
}

func (e *export) remove(r *request) {
	if i := slices.Index(e.open, r); i >= 0 {
		e.open = slices.Delete(e.open, i, i+1)
		e.relay.held.Add(-1)
	}
}

func (e *export) reply(r *request, code uint32, data []byte) {
	e.relay.count(r)
	if r.client != nil {
		r.client.answer(r, code, data)
		r.client = nil
	}
}
