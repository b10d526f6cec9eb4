package relay

// admit a request if there is room for it. Otherwise its export retries when room becomes
// free.
func (r *Relay) admit(q *request) bool {
	if !q.admitted {
		q.admitted = r.budget.TryAcquire(r.room(q))
	}
	if !q.admitted {
		r.crowded.Store(true)
	}
	return q.admitted
}

// room is what a request takes of the limit, in bytes: at most all of it.
func (r *Relay) room(q *request) int64 { return min(q.cost(), r.options.Limit) }

func (r *Relay) release(q *request) {
	if q.admitted {
		q.admitted = false
		r.budget.Release(r.room(q))
	}
	r.press()
}

// flushed forgets requests that ZeroFS has flushed.
func (r *Relay) flushed(all []*request) {
	for _, q := range all {
		r.unflushed.Add(-q.cost())
		r.release(q)
	}
}

// press asks for room from half of the limit on, and while a request waits for some.
func (r *Relay) press() {
	if r.unflushed.Load() <= r.options.Limit/2 && !r.crowded.Load() {
		return
	}
	select {
	case r.pressure <- struct{}{}:
	default: // a pass over the exports begins anyway
	}
}

// relieve makes room on request: each export flushes what it keeps, and sends requests
// for which there is room by then.
func (r *Relay) relieve() {
	for {
		select {
		case <-r.pressure:
		case <-r.working.Done():
			return
		}
		r.crowded.Store(false) // a request that still waits sets it again
		r.each(func(e *export) { e.wait(func() { e.flushOwn(); e.sendOpen() }) })
	}
}
