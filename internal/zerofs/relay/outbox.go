package relay

import (
	"net"
	"sync"
)

// outbox writes to a connection, first in first out, without blocking its callers. A
// blocked caller could stop both directions indefinitely. The requests under way bound
// its size.
type outbox struct {
	conn   net.Conn
	mu     sync.Mutex
	some   *sync.Cond
	queue  net.Buffers
	closed bool
	// idle is closed once all was written after close, or nothing can be any more.
	idle chan struct{}
}

func newOutbox(conn net.Conn) *outbox {
	o := &outbox{conn: conn, idle: make(chan struct{})}
	o.some = sync.NewCond(&o.mu)
	go o.run()
	return o
}

// put parts behind all that was put before. After close they are dropped.
func (o *outbox) put(parts ...[]byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.queue = append(o.queue, parts...)
	o.some.Signal()
}

// close once all that was put is written.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.some.Signal()
}

func (o *outbox) run() {
	defer close(o.idle)
	for {
		next, ok := o.next()
		if !ok {
			return
		}
		if _, err := next.WriteTo(o.conn); err != nil {
			// The reader of the connection notices its end.
			_ = o.conn.Close()
			o.close()
			return
		}
	}
}

// next to write; false: nothing will come.
func (o *outbox) next() (net.Buffers, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) == 0 && !o.closed {
		o.some.Wait()
	}
	next := o.queue
	o.queue = nil
	return next, len(next) > 0
}
