package machine

import (
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// Same says whether two snapshots are of one pod on one machine. Counters of two do
// not subtract.
func Same(a, b Snapshot) bool { return a.Host == b.Host && a.Boot == b.Boot }

// Pod is what the pod lived through between two snapshots of it. False where its
// throttling is not counted.
func Pod(before, after Snapshot) (validity.Pod, bool) {
	if !Same(before, after) || before.Throttling == nil || after.Throttling == nil {
		return validity.Pod{}, false
	}
	p := validity.Pod{
		Name:          after.Host,
		Periods:       after.Throttling.Periods - before.Throttling.Periods,
		Throttled:     after.Throttling.Throttled - before.Throttling.Throttled,
		ThrottledTime: after.Throttling.Time - before.Throttling.Time,
		Quota:         unchanged(before.Processors, after.Processors),
		Stalled:       between(before.PodStalls, after.PodStalls),
	}
	// A restarted container counts from zero.
	return p, p.Periods >= 0 && p.Throttled >= 0 && p.ThrottledTime >= 0
}

// unchanged returns a quota that is the same before and after; else nil.
func unchanged(before, after *float64) *float64 {
	if before == nil || after == nil || *before != *after {
		return nil
	}
	return after
}

// Node is what the node of the pod lived through. False if there are no facts.
func Node(before, after Snapshot) (validity.Node, bool) {
	if !Same(before, after) {
		return validity.Node{}, false
	}
	n := validity.Node{Name: "of pod " + after.Host, Stalled: between(before.NodeStalls, after.NodeStalls), Steal: stolen(before.Processor, after.Processor)}
	return n, n.Stalled != nil || n.Steal != nil
}

func between(before, after *validity.Stalls) *validity.Stalls {
	if before == nil || after == nil {
		return nil
	}
	s := validity.Stalls{CPU: after.CPU - before.CPU, IO: after.IO - before.IO, Memory: after.Memory - before.Memory}
	if min(s.CPU, s.IO, s.Memory) < 0 {
		return nil
	}
	return &s
}

// stolen share of the processors' time.
func stolen(before, after *Processor) *float64 {
	if before == nil || after == nil || after.All <= before.All || after.Stolen < before.Stolen {
		return nil
	}
	share := float64(after.Stolen-before.Stolen) / float64(after.All-before.All)
	return &share
}

// Client is the process that generates the load, on a machine with so many processors.
func (s Snapshot) Client(cpu time.Duration, threads, processors int) *validity.Client {
	c := &validity.Client{CPU: cpu, Processors: float64(processors), Threads: threads}
	if s.Processors != nil {
		c.Processors = min(c.Processors, *s.Processors)
	}
	return c
}

// Cache is the memory that can hold the files below a path, beside a server's own; zero
// where that is not known.
func (s Snapshot) Cache(sharedBuffers int64, path string) (bytes int64, isARC bool) {
	mount, ok := s.Under(path)
	switch {
	case !ok:
		return 0, false
	case mount.Type == zfs && s.ARCMax != nil:
		return *s.ARCMax, true
	case mount.Type == zfs || s.Memory == nil:
		return 0, false
	}
	bytes = *s.Memory
	if s.MemoryLimit != nil {
		bytes = min(bytes, *s.MemoryLimit)
	}
	return max(0, bytes-sharedBuffers), false
}
