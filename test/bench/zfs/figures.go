//go:build linux

package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	//nolint:depguard // a measurement

	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/test/bench/harness"
	"github.com/pgstorage/pgstorage/test/bench/zfs/cell"
)

// key of what is compared: one line of the table.
type key struct {
	durable bool
	clients int
}

// processors of the machine.
const processors = 2

// side is one configuration in one line. Of the processors, it has the part that
// worked, and the seconds per transaction.
type side struct {
	tps, sustained, bytes, running, flushes, flushTime, wal, fullPages, reads, busy, work statistics.Summary
	// rounds are the TPS by round.
	rounds map[int]float64
}

// line compares both configurations.
type line struct {
	key
	ours, other side
}

type figures struct{ lines []line }

// summarise the rounds.
func summarise(cells []cell.Cell) figures {
	var f figures
	for _, durable := range []bool{true, false} {
		for _, clients := range clientsOf(cells) {
			k := key{durable, clients}
			f.lines = append(f.lines, line{k, sideOf(cells, k, cell.Ours), sideOf(cells, k, cell.Default)})
		}
	}
	return f
}

func clientsOf(cells []cell.Cell) []int {
	var out []int
	for _, c := range cells {
		out = append(out, c.Clients)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func sideOf(cells []cell.Cell, k key, configuration string) side {
	cells = slices.DeleteFunc(slices.Clone(cells), func(c cell.Cell) bool {
		return c.Configuration != configuration || c.Durable != k.durable || c.Clients != k.clients
	})
	rounds := map[int]float64{}
	for _, c := range cells {
		rounds[c.Round] = c.TPS
	}
	of := func(value func(cell.Cell) float64) statistics.Summary {
		var values []float64
		for _, c := range cells {
			values = append(values, value(c))
		}
		return harness.Summary(values)
	}
	per := func(n func(cell.Cell) int64) statistics.Summary {
		return of(func(c cell.Cell) float64 { return perTransaction(c, n(c)) })
	}
	return side{
		tps:       of(func(c cell.Cell) float64 { return c.TPS }),
		sustained: of(sustained),
		bytes:     per(func(c cell.Cell) int64 { return c.Settled.WriteBytes }),
		running:   per(func(c cell.Cell) int64 { return c.Running.WriteBytes }),
		flushes:   per(func(c cell.Cell) int64 { return c.Running.Flushes }),
		flushTime: of(func(c cell.Cell) float64 { return float64(c.Running.FlushMillis) / float64(max(1, c.Running.Flushes)) }),
		wal:       per(func(c cell.Cell) int64 { return c.WALBytes }),
		fullPages: per(func(c cell.Cell) int64 { return c.FullPages }),
		reads:     per(func(c cell.Cell) int64 { return c.Running.ReadBytes }),
		busy:      of(func(c cell.Cell) float64 { return c.Busy * 100 }),
		work:      of(func(c cell.Cell) float64 { return c.Busy * processors / c.TPS }),
		rounds:    rounds,
	}
}

// sustained is the rate with the time that it took to write what was left to the
// checkpoint: a run is short, and pgbench's own figure leaves that out.
func sustained(c cell.Cell) float64 {
	return float64(c.Transactions) / (float64(c.Transactions)/c.TPS + c.SettleSeconds)
}

func (k key) commit() string {
	if k.durable {
		return "durable"
	}
	return "relaxed"
}

// print the table, in Markdown.
func (f figures) print(out io.Writer) {
	_, _ = fmt.Fprintln(out, "| commit | clients | configuration | TPS, median (least to most); 95 % interval of the mean | ratio of the medians | TPS with the checkpoint | kB written per transaction, with what is left to the checkpoint | before it | flushes per transaction, ms of each | kB of WAL, full pages per transaction | kB read per transaction | processors busy, ms of them per transaction |")
	_, _ = fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, l := range f.lines {
		row(out, l, cell.Default, l.other, "")
		row(out, l, cell.Ours, l.ours, fmt.Sprintf("%.2f", l.ratio()))
	}
}

func row(out io.Writer, l line, name string, s side, ratio string) {
	_, _ = fmt.Fprintf(out, "| %s | %d | %s | %s | %s | %.0f | %s | %.1f | %.2f, %.1f | %.1f, %.2f | %.1f | %.0f%%, %.1f |\n",
		l.commit(), l.clients, name, harness.Spread(s.tps, 0, 1), ratio, s.sustained.Median,
		harness.Spread(s.bytes, 1, 1e3), s.running.Median/1e3, s.flushes.Median, s.flushTime.Median,
		s.wal.Median/1e3, s.fullPages.Median, s.reads.Median/1e3, s.busy.Median, s.work.Median*1e3)
}

// benchmark prints Go's benchmark format. An operation is a transaction.
func (f figures) benchmark(out io.Writer) error {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "goos: %s\ngoarch: %s\npkg: github.com/pgstorage/pgstorage/test/bench/zfs\n", runtime.GOOS, runtime.GOARCH)
	for _, l := range f.lines {
		for _, c := range []struct {
			name string
			side side
		}{{cell.Default, l.other}, {cell.Ours, l.ours}} {
			s := c.side
			_, _ = fmt.Fprintf(&b, "BenchmarkZFS/commit=%s/clients=%d/configuration=%s\t1\t%.0f ns/op\t%.1f tps\t%.0f written-B/op\t%.3f flushes/op\t%.0f wal-B/op\t%.0f busy-%%\n",
				l.commit(), l.clients, c.name, 1e9/max(1e-9, s.tps.Median), s.tps.Median, s.bytes.Median, s.flushes.Median, s.wal.Median, s.busy.Median)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
