package agent

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/internal/node/decide"
	"github.com/pgstorage/pgstorage/internal/node/nbd"
)

// flushes of devices since they were attached.
type flushes struct{ count, milliseconds uint64 }

// Fields of /sys/block/*/stat, from 0. Source: Documentation/block/stat.rst, Linux 5.5.
const (
	statReads      = 0
	statWrites     = 4
	statDiscards   = 11
	statFlushes    = 15
	statFlushTicks = 16
)

// passesOfMean: so many passes make most of a mean that moves with each.
const passesOfMean = 4

// flushLatency is the moving mean of the flushes; 0 where it never was measured.
func (n *Node) flushLatency(storage string, net *decide.Network) time.Duration {
	now := n.countFlushes(net)
	var since flushes
	for key, f := range now {
		before, known := n.flushed[storage][key]
		if known && f.count >= before.count && f.milliseconds >= before.milliseconds {
			since.count += f.count - before.count
			since.milliseconds += f.milliseconds - before.milliseconds
		}
	}
	n.flushed[storage] = now
	if since.count > 0 {
		mean := time.Duration(since.milliseconds) * time.Millisecond / time.Duration(since.count) //nolint:gosec // G115: counts since the last pass
		if before := n.latencies[storage]; before > 0 {
			mean = before + (mean-before)/passesOfMean
		}
		n.latencies[storage] = mean
	}
	return n.latencies[storage]
}

// countFlushes of each server, or of each device whose server does not report its own. The
// kernel's count has flushes that the server answered without one of its store, and those of
// several devices that shared one.
func (n *Node) countFlushes(net *decide.Network) map[string]flushes {
	out := map[string]flushes{}
	for _, d := range net.Devices {
		if d.Attached == nil {
			continue
		}
		if s := net.Servers[d.Server]; s.Life == d.Attached.Life && s.StoreFlushes > 0 {
			out[d.Server+"@"+s.Life] = flushes{count: uint64(s.StoreFlushes), milliseconds: uint64(s.StoreFlushSeconds * 1000)}
			continue
		}
		out[strconv.Itoa(d.Attached.Index)+"@"+d.Attached.Life] = n.readFlushes(d.Attached.Index)
	}
	return out
}

func (n *Node) readFlushes(index int) flushes {
	f := n.deviceFields(index, "stat")
	if len(f) <= statFlushTicks {
		return flushes{}
	}
	return flushes{count: f[statFlushes], milliseconds: f[statFlushTicks]}
}

// silentAfter without any answer a device that has requests is silent.
const silentAfter = time.Minute

// answered is what a device had answered by a time.
type answered struct {
	count uint64
	at    time.Time
}

// listen finds devices whose requests wait. The status of a server has a request that waits
// while the server answers others. The kernel has the requests that never reached a server. If
// a device of a stripe has waiting requests, although its server answers and has none, its
// connection broke; no other source shows that.
func (n *Node) listen(net *decide.Network) {
	for _, d := range net.Attached() {
		told := net.Servers[d.Server]
		if told.Life == d.Attached.Life {
			d.Attached.Waits = time.Duration(told.WaitSeconds[d.Export]) * time.Second
		}
		count, now := n.answers(d.Attached.Index), n.Clock.Now()
		last, known := n.answered[d.Attached.Identifier]
		held := told.HeldRequests > 0 || !net.Answers(d.Server)
		if !known || count != last.count || d.Attached.InFlight == 0 || held && !net.Mirror {
			n.answered[d.Attached.Identifier] = answered{count, now}
			continue
		}
		unanswered := now.Sub(last.at)
		d.Attached.Waits = max(d.Attached.Waits, unanswered)
		d.Attached.Silent = !net.Mirror && unanswered >= silentAfter
	}
}

// answers that a device ever had: reads, writes, discards and flushes.
func (n *Node) answers(index int) uint64 {
	var sum uint64
	f := n.deviceFields(index, "stat")
	for _, field := range []int{statReads, statWrites, statDiscards, statFlushes} {
		if field < len(f) {
			sum += f[field]
		}
	}
	return sum
}

// inFlight requests, reads and writes.
func (n *Node) inFlight(index int) int {
	sum := uint64(0)
	for _, f := range n.deviceFields(index, "inflight") {
		sum += f
	}
	return int(sum)
}

// deviceFields are the numbers in a file of /sys/block; none where it cannot be read.
func (n *Node) deviceFields(index int, file string) []uint64 {
	name := filepath.Base(nbd.Path(index))
	text, err := os.ReadFile(filepath.Join(n.Root, "sys/block", name, file))
	if err != nil {
		return nil
	}
	var out []uint64
	for f := range strings.FieldsSeq(string(text)) {
		v, err := strconv.ParseUint(f, 10, 64)
		if err != nil {
			return nil
		}
		out = append(out, v)
	}
	return out
}
