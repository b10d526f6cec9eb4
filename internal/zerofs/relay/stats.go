package relay

import (
	"sync/atomic"
	"time"
)

// counters of a Relay since it was created.
type counters struct {
	// clock counts the changes of all exports that ZeroFS has made.
	arrivals, clock             atomic.Uint64
	held, underWay, unflushed   atomic.Int64
	reads, readBytes            atomic.Int64
	writes, writtenBytes, trims atomic.Int64
	flushes, flushTime          atomic.Int64
	storeFlushes, storeTime     atomic.Int64
	repeated                    atomic.Int64
	crowded                     atomic.Bool
}

// Stats of a Relay. Counts begin with New.
type Stats struct {
	// Unflushed are the bytes the relay keeps. Held are requests it has read and not
	// answered. UnderWay are those sent to ZeroFS, including repeated ones.
	Unflushed, Held, UnderWay int64
	// Clients that are connected.
	Clients int
	// Waiting is, by export, since when its oldest request waits that ZeroFS has not done.
	// ZeroFS may have answered others since.
	Waiting map[string]time.Time

	Reads, ReadBytes, Writes, WrittenBytes, Trims, Flushes int64
	// FlushTime of all flushes that clients asked for.
	FlushTime time.Duration
	// StoreFlushes that ZeroFS did for them, and for the relay's own account. One may have
	// been for several. StoreTime is what they took together.
	StoreFlushes int64
	StoreTime    time.Duration
	// Repeated is the number of changes sent to ZeroFS again.
	Repeated int64
}

// Stats returns the current figures.
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
		StoreFlushes: r.storeFlushes.Load(), StoreTime: time.Duration(r.storeTime.Load()),
	}
}

// count adds a request that was answered.
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

// countFlush adds a flush that ZeroFS did.
func (c *counters) countFlush(took time.Duration) {
	c.storeFlushes.Add(1)
	c.storeTime.Add(int64(took))
}
