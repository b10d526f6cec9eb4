package node

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/internal/nbd"
	"github.com/pgstorage/pgstorage/internal/nodestorage"
)

// flushes of devices since they were attached.
type flushes struct{ count, milliseconds uint64 }

// Fields of /sys/block/*/stat, from 0. Source: Documentation/block/stat.rst, Linux 5.5.
const (
	statFlushes    = 15
	statFlushTicks = 16
)

// flushLatency is the mean over the flushes since the last pass, or what it was before
// that; 0 where it never was measured.
func (n *Node) flushLatency(storage string, net *nodestorage.Network) time.Duration {
	now := map[string]flushes{}
	var since flushes
	for _, d := range net.Devices {
		if d.Attached == nil {
			continue
		}
		key := strconv.Itoa(d.Attached.Index) + "@" + d.Attached.Life
		f := n.readFlushes(d.Attached.Index)
		now[key] = f
		before, known := n.flushed[storage][key]
		if known && f.count >= before.count && f.milliseconds >= before.milliseconds {
			since.count += f.count - before.count
			since.milliseconds += f.milliseconds - before.milliseconds
		}
	}
	n.flushed[storage] = now
	if since.count > 0 {
		n.latencies[storage] = time.Duration(since.milliseconds) * time.Millisecond / time.Duration(since.count) //nolint:gosec // G115: counts since the last pass
	}
	return n.latencies[storage]
}

func (n *Node) readFlushes(index int) flushes {
	f := n.deviceFields(index, "stat")
	if len(f) <= statFlushTicks {
		return flushes{}
	}
	return flushes{count: f[statFlushes], milliseconds: f[statFlushTicks]}
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
