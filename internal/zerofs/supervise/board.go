package supervise

import (
	"reflect"
	"sync"
	"time"

	"github.com/pgstorage/pgstorage/internal/zerofs"
	"github.com/pgstorage/pgstorage/internal/zerofs/relay"
)

// Meter counts what goes to the store.
type Meter interface {
	Traffic() zerofs.StoreTraffic
	// Silence is why the store gave no answer last; nil: it did.
	Silence() error
}

// board says how the server does.
type board struct {
	relay *relay.Relay
	meter Meter

	mu sync.Mutex
	// phase, and all else that the relay and the meter do not count.
	phase zerofs.ServerStatus
	shown zerofs.ServerStatus
}

// enter a phase, by a failure or without one.
func (b *board) enter(phase zerofs.Phase, why *zerofs.Failure, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.phase.Phase != phase {
		b.phase.Phase, b.phase.Since = phase, now.UTC()
	}
	b.phase.Reason, b.phase.Message = "", ""
	if why != nil {
		b.phase.Reason, b.phase.Message = why.Reason, why.Message
	}
}

func (b *board) restarted() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.phase.Restarts++
}

// status now.
func (b *board) status(now time.Time) zerofs.ServerStatus {
	b.mu.Lock()
	s := b.phase
	b.mu.Unlock()
	r := b.relay.Stats()
	s.UnflushedBytes, s.HeldRequests = r.Unflushed, r.Held
	s.Reads, s.ReadBytes, s.Writes, s.WrittenBytes = r.Reads, r.ReadBytes, r.Writes, r.WrittenBytes
	s.Trims, s.Flushes, s.FlushSeconds, s.RepeatedWrites = r.Trims, r.Flushes, r.FlushTime.Seconds(), r.Repeated
	s.StoreFlushes, s.StoreFlushSeconds = r.StoreFlushes, r.StoreTime.Seconds()
	s.WaitSeconds = waits(r.Waiting, now)
	if b.meter != nil {
		traffic := b.meter.Traffic()
		s.S3 = &traffic
	}
	return s
}

// waits in whole seconds, where there are any.
func waits(since map[string]time.Time, now time.Time) map[string]int64 {
	out := map[string]int64{}
	for export, at := range since {
		if s := int64(now.Sub(at).Seconds()); s > 0 {
			out[export] = s
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// show the status in a folder, if it is another than before.
func (b *board) show(dir string, now time.Time) error {
	s := b.status(now)
	b.mu.Lock()
	defer b.mu.Unlock()
	if reflect.DeepEqual(s, b.shown) {
		return nil
	}
	if err := zerofs.WriteStatus(dir, s); err != nil {
		return err
	}
	b.shown = s
	return nil
}
