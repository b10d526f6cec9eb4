//go:build linux

package s3nbd

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/test/bench/harness"
)

// key of what is compared: one line of a table.
type key struct {
	configuration string
	clients       int
	delay         int64
	siblings      int
}

func (c Cell) key() key { return key{c.Configuration, c.Clients, c.DelayMicros, c.Siblings} }

// line of a table. Times are in milliseconds, flushes and all else of the store are
// for each commit.
type line struct {
	key
	tps, p50, p95, flushes, flushTime, syncs, syncTime, sent, received, busy statistics.Summary
	requests                                                                 map[string]statistics.Summary
	// rounds are the TPS by round.
	rounds map[int]float64
}

// readLine of the table of reads. Shares are of the blocks that Postgres read, reachedOf
// of the transactions, in percent.
type readLine struct {
	variant                                                    string
	tps, blocks, arc, l2arc, devices, reached, reachedOf, gets statistics.Summary
	busy, arcBytes, l2Bytes                                    statistics.Summary
}

type figures struct {
	// derived is commit_siblings as the operator derives it.
	derived int
	lines   []line
	// host has the runs on the host, which the mark of commit_delay is judged by.
	host  []line
	reads []readLine
}

// summarise the rounds.
func summarise(m *measured) figures {
	var guest, host []Cell
	for _, c := range m.cells {
		if c.Host {
			host = append(host, c)
		} else {
			guest = append(guest, c)
		}
	}
	f := figures{derived: m.facts.Siblings, lines: linesOf(guest), host: linesOf(host)}
	for _, variant := range []string{inARC, outOfARC, inL2ARC} {
		var reads []Read
		for _, r := range m.reads {
			if r.Variant == variant {
				reads = append(reads, r)
			}
		}
		if len(reads) > 0 {
			f.reads = append(f.reads, readLineOf(variant, reads))
		}
	}
	return f
}

func linesOf(all []Cell) (out []line) {
	cells := map[key][]Cell{}
	for _, c := range all {
		cells[c.key()] = append(cells[c.key()], c)
	}
	for _, k := range slices.SortedFunc(maps.Keys(cells), compare) {
		out = append(out, lineOf(k, cells[k]))
	}
	return out
}

func compare(a, b key) int {
	order := []string{Durable, Undelayed, Relaxed, tried}
	if d := slices.Index(order, a.configuration) - slices.Index(order, b.configuration); d != 0 {
		return d
	}
	if a.clients != b.clients {
		return a.clients - b.clients
	}
	if a.delay != b.delay {
		return int(a.delay - b.delay)
	}
	return b.siblings - a.siblings
}

func lineOf(k key, cells []Cell) line {
	of := func(figure func(Cell) float64) statistics.Summary { return harness.Of(cells, figure) }
	l := line{
		key:       k,
		tps:       of(func(c Cell) float64 { return c.TPS }),
		p50:       of(func(c Cell) float64 { return c.P50 }),
		p95:       of(func(c Cell) float64 { return c.P95 }),
		flushes:   of(func(c Cell) float64 { return c.per(c.Disk.Flushes) }),
		flushTime: of(Cell.flushTime),
		syncs:     of(func(c Cell) float64 { return c.per(c.WALSyncs) }),
		syncTime:  of(Cell.syncTime),
		sent:      of(func(c Cell) float64 { return c.per(c.Sent) }),
		received:  of(func(c Cell) float64 { return c.per(c.Received) }),
		busy:      of(func(c Cell) float64 { return c.Busy * 100 }),
		requests:  map[string]statistics.Summary{}, rounds: map[int]float64{},
	}
	for _, c := range cells {
		l.rounds[c.Round] = c.TPS
	}
	for _, kind := range kinds {
		l.requests[kind] = of(func(c Cell) float64 { return c.per(int64(c.ofKind(kind))) })
	}
	return l
}

// kinds of requests in the tables; others is all else.
var kinds = []string{"PUT", "GET", "LIST", others}

const others = "other"

func (c Cell) ofKind(kind string) (sum int) {
	if kind != others {
		return c.Requests[kind]
	}
	for name, n := range c.Requests {
		if !slices.Contains(kinds, name) {
			sum += n
		}
	}
	return sum
}

func readLineOf(variant string, reads []Read) readLine {
	of := func(figure func(Read) float64) statistics.Summary { return harness.Of(reads, figure) }
	return readLine{
		variant: variant,
		tps:     of(func(r Read) float64 { return r.TPS }),
		blocks:  of(func(r Read) float64 { return float64(r.Blocks) / float64(max(1, r.Transactions)) }),
		arc:     of(func(r Read) float64 { return 100 * float64(r.Hits) / float64(max(1, r.Hits+r.Misses)) }),
		l2arc:   of(func(r Read) float64 { return 100 * float64(r.Hits2) / float64(max(1, r.Misses)) }),
		devices: of(func(r Read) float64 { return r.share(r.DeviceReads) }),
		reached: of(func(r Read) float64 { return r.share(r.reached()) }),
		reachedOf: of(func(r Read) float64 {
			return 100 * float64(r.reached()) / float64(max(1, r.Transactions))
		}),
		gets:     of(func(r Read) float64 { return float64(r.Gets) }),
		busy:     of(func(r Read) float64 { return r.Busy * 100 }),
		arcBytes: of(func(r Read) float64 { return float64(r.ARCBytes) }),
		l2Bytes:  of(func(r Read) float64 { return float64(r.L2Bytes) }),
	}
}

// emulated is the share of the guest's processors, in percent, from which on they
// limit a run, and not the store.
const emulated = 85

// limit of a run: what its clients wait for.
func (l line) limit() string {
	if l.busy.Median >= emulated {
		return "processors"
	}
	if l.configuration == Relaxed {
		return ""
	}
	return "flushes"
}

// print the table of commits, in Markdown.
func (f figures) print(out io.Writer) {
	harness.Header(out, "commit", "clients", "commit_delay, µs", "TPS, median (least to most); 95% interval of the mean", "latency p50, p95, ms", "flushes per commit, ms of each", "WAL syncs per commit, ms of each", "PUT, GET, LIST, other requests per commit", "kB to the store, from it per commit", "processors busy", "limited by")
	for _, l := range f.lines {
		if l.configuration == tried {
			continue
		}
		_, _ = fmt.Fprintf(out, "| %s | %d | %d | %s | %.0f, %.0f | %.3f, %.0f | %.3f, %.0f | %.2f, %.2f, %.2f, %.2f | %.1f, %.1f | %.0f%% | %s |\n",
			l.commit(), l.clients, l.delay, harness.Spread(l.tps, 0, 1), l.p50.Median, l.p95.Median,
			l.flushes.Median, l.flushTime.Median, l.syncs.Median, l.syncTime.Median,
			l.requests["PUT"].Median, l.requests["GET"].Median, l.requests["LIST"].Median, l.requests[others].Median,
			l.sent.Median/1e3, l.received.Median/1e3, l.busy.Median, l.limit())
	}
}

func (k key) commit() string {
	if k.configuration == Relaxed {
		return "relaxed"
	}
	return "durable"
}

// printDelays is the table of all delays, on the host.
func (f figures) printDelays(out io.Writer) {
	harness.Header(out, "commit_delay, µs", "commit_siblings", "TPS, median (least to most); 95% interval of the mean", "of that without (95% interval)", "commits per WAL sync", "ms of a sync, of a flush", "latency p50, p95, ms", "requests per commit", "processors busy")
	without := at(f.host, Undelayed)
	for _, l := range f.delays() {
		all := 0.0
		for _, n := range l.requests {
			all += n.Median
		}
		name := ""
		if l.configuration == Durable {
			name = " (derived)"
		}
		_, _ = fmt.Fprintf(out, "| %d%s | %d | %s | %s | %.1f | %.0f, %.0f | %.0f, %.0f | %.2f | %.0f%% |\n",
			l.delay, name, l.siblings, harness.Spread(l.tps, 0, 1), harness.Ratio(gain(l, without)),
			1/max(1e-9, l.syncs.Median), l.syncTime.Median, l.flushTime.Median, l.p50.Median, l.p95.Median, all, l.busy.Median)
	}
}

// delays are the lines of the host, by delay.
func (f figures) delays() []line {
	all := slices.Clone(f.host)
	slices.SortStableFunc(all, func(a, b line) int {
		return int(a.delay - b.delay)
	})
	return all
}

// at as many clients as delayed, the line of a configuration.
func at(lines []line, configuration string) line {
	for _, l := range lines {
		if l.configuration == configuration && l.clients == delayed {
			return l
		}
	}
	return line{}
}

// gain of one durable line over another that ran in the same rounds; nil where they are
// too few to compare.
func gain(of, over line) *statistics.Comparison {
	return harness.Gain(v1alpha1.DurabilityLocal, of.rounds, over.rounds)
}

// printReads is the table of reads.
func (f figures) printReads(out io.Writer) {
	harness.Header(out, "caches", "ARC, L2ARC after it, MB", "TPS, median (least to most); 95% interval of the mean", "blocks read per transaction", "hits of the ARC", "of its misses, hits of the L2ARC", "reads of the devices, of the blocks read", "reads that reach the store, of the blocks read", "GETs in all", "processors busy")
	for _, r := range f.reads {
		_, _ = fmt.Fprintf(out, "| %s | %.0f, %.0f | %s | %.2f | %.1f%% | %.1f%% | %.2f%% | %.3f%% | %.0f | %.0f%% |\n",
			r.variant, r.arcBytes.Median/1e6, r.l2Bytes.Median/1e6, harness.Spread(r.tps, 0, 1), r.blocks.Median, r.arc.Median, r.l2arc.Median, r.devices.Median, r.reached.Median, r.gets.Median, r.busy.Median)
	}
}

// results in Go's benchmark format. An operation is a transaction.
func (f figures) results() string {
	var b strings.Builder
	for _, l := range f.lines {
		_, _ = fmt.Fprintf(&b, "BenchmarkS3NBD/commit=%s/clients=%d/delay=%d/siblings=%d\t1\t%.0f ns/op\t%.1f tps\t%.3f flushes/op\t%.3f puts/op\t%.3f gets/op\t%.0f sent-B/op\t%.0f busy-%%\n",
			l.commit(), l.clients, l.delay, l.siblings, 1e9/max(1e-9, l.tps.Median), l.tps.Median, l.flushes.Median, l.requests["PUT"].Median, l.requests["GET"].Median, l.sent.Median, l.busy.Median)
	}
	return b.String()
}
