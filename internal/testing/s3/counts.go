package s3

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Outcome is a kind of request with how it ended.
type Outcome struct {
	Call
	// Status of the answer, or 0 without one.
	Status int
}

// Count of requests with one outcome.
type Count struct {
	Requests int
	// Up and Down are bytes of bodies, to the store and from it.
	Up, Down int64
}

// Counts of all that was asked since the last reset.
type Counts map[Outcome]Count

// Sum over the outcomes that a test chooses.
func (c Counts) Sum(chosen func(Outcome) bool) Count {
	var sum Count
	for outcome, count := range c {
		if chosen(outcome) {
			sum.Requests += count.Requests
			sum.Up += count.Up
			sum.Down += count.Down
		}
	}
	return sum
}

// Total over all outcomes.
func (c Counts) Total() Count { return c.Sum(func(Outcome) bool { return true }) }

// String has a line for each outcome.
func (c Counts) String() string {
	var lines []string
	for o, n := range c {
		lines = append(lines, fmt.Sprintf("%s %s %d: %d requests, %d bytes up, %d bytes down",
			o.Bucket, o.Operation, o.Status, n.Requests, n.Up, n.Down))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// ledger is where requests that run at once are counted.
type ledger struct {
	mu     sync.Mutex
	counts Counts
}

func (l *ledger) add(o Outcome, up, down int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		l.counts = Counts{}
	}
	count := l.counts[o]
	l.counts[o] = Count{Requests: count.Requests + 1, Up: count.Up + up, Down: count.Down + down}
}

func (l *ledger) read() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.counts)
}

func (l *ledger) reset() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	counts := l.counts
	l.counts = nil
	return counts
}

// meteredBody counts what is read of a request, which the transport may still do when
// the answer is there.
type meteredBody struct {
	io.ReadCloser
	bytes atomic.Int64
}

func (b *meteredBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.bytes.Add(int64(n))
	return n, err
}

// meteredAnswer counts what is written of an answer.
type meteredAnswer struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (a *meteredAnswer) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

func (a *meteredAnswer) Write(p []byte) (int, error) {
	n, err := a.ResponseWriter.Write(p)
	a.bytes += int64(n)
	return n, err
}

// Unwrap lets the proxy flush.
func (a *meteredAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
