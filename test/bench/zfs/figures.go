//go:build linux

package zfs

import (
	"fmt"
	"io"
	"strings"

	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/test/bench/harness"
	"github.com/pgstorage/pgstorage/test/bench/zfs/cell"
)

// processors of the machine.
const processors = 2

// side is one configuration in one line. It has the busy part of the processors, and their
// seconds per transaction.
type side struct {
	tps, sustained, bytes, running, flushes, flushTime, wal, fullPages, reads, busy, work statistics.Summary
	// rounds are the TPS by round.
	rounds map[int]float64
}

// line compares both configurations in a group.
type line struct {
	harness.Group
	ours, other side
}

type figures struct{ lines []line }

// summarise the rounds.
func summarise(cells []cell.Cell) figures {
	var f figures
	for _, g := range harness.Groups(cells) {
		f.lines = append(f.lines, line{g, sideOf(harness.Select(cells, g, cell.Ours)), sideOf(harness.Select(cells, g, cell.Default))})
	}
	return f
}

// sideOf the cells of one configuration in one group.
func sideOf(cells []cell.Cell) side {
	of := func(figure func(cell.Cell) float64) statistics.Summary { return harness.Of(cells, figure) }
	per := func(n func(cell.Cell) int64) statistics.Summary {
		return of(func(c cell.Cell) float64 { return c.PerTransaction(n(c)) })
	}
	return side{
		tps:       of(func(c cell.Cell) float64 { return c.TPS }),
		sustained: of(func(c cell.Cell) float64 { return c.Sustained() }),
		bytes:     per(func(c cell.Cell) int64 { return c.Settled.WriteBytes }),
		running:   per(func(c cell.Cell) int64 { return c.Running.WriteBytes }),
		flushes:   per(func(c cell.Cell) int64 { return c.Running.Flushes }),
		flushTime: of(func(c cell.Cell) float64 { return c.Running.FlushTime() }),
		wal:       per(func(c cell.Cell) int64 { return c.WALBytes }),
		fullPages: per(func(c cell.Cell) int64 { return c.FullPages }),
		reads:     per(func(c cell.Cell) int64 { return c.Running.ReadBytes }),
		busy:      of(func(c cell.Cell) float64 { return c.Busy * 100 }),
		work:      of(func(c cell.Cell) float64 { return c.Busy * processors / c.TPS }),
		rounds:    harness.ByRound(cells),
	}
}

// print the table, in Markdown.
func (f figures) print(out io.Writer) {
	harness.Header(out, "commit", "clients", "configuration", "TPS, median (least to most); 95% interval of the mean", "ratio of the medians", "TPS with the checkpoint", "kB written per transaction, with what is left to the checkpoint", "before it", "flushes per transaction, ms of each", "kB of WAL, full pages per transaction", "kB read per transaction", "processors busy, ms of them per transaction")
	for _, l := range f.lines {
		row(out, l, cell.Default, l.other, "")
		row(out, l, cell.Ours, l.ours, fmt.Sprintf("%.2f", l.ratio()))
	}
}

func row(out io.Writer, l line, name string, s side, ratio string) {
	_, _ = fmt.Fprintf(out, "| %s | %d | %s | %s | %s | %.0f | %s | %.1f | %.2f, %.1f | %.1f, %.2f | %.1f | %.0f%%, %.1f |\n",
		l.Commit(), l.Clients, name, harness.Spread(s.tps, 0, 1), ratio, s.sustained.Median,
		harness.Spread(s.bytes, 1, 1e3), s.running.Median/1e3, s.flushes.Median, s.flushTime.Median,
		s.wal.Median/1e3, s.fullPages.Median, s.reads.Median/1e3, s.busy.Median, s.work.Median*1e3)
}

// results in Go's benchmark format. An operation is a transaction.
func (f figures) results() string {
	var b strings.Builder
	for _, l := range f.lines {
		for _, c := range []struct {
			name string
			side side
		}{{cell.Default, l.other}, {cell.Ours, l.ours}} {
			s := c.side
			_, _ = fmt.Fprintf(&b, "BenchmarkZFS/commit=%s/clients=%d/configuration=%s\t1\t%.0f ns/op\t%.1f tps\t%.0f written-B/op\t%.3f flushes/op\t%.0f wal-B/op\t%.0f busy-%%\n",
				l.Commit(), l.Clients, c.name, 1e9/max(1e-9, s.tps.Median), s.tps.Median, s.bytes.Median, s.flushes.Median, s.wal.Median, s.busy.Median)
		}
	}
	return b.String()
}
