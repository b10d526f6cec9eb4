//go:build linux

package ceph

import (
	"fmt"
	"io"
	"strings"

	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/test/bench/ceph/cell"
	"github.com/pgstorage/pgstorage/test/bench/harness"
)

// layer of the stack, from the top.
type layer struct {
	name string
	of   func(cell.Layers) int64
}

var layers = []layer{
	{"Postgres", func(l cell.Layers) int64 { return l.Postgres }},
	{"RBD", func(l cell.Layers) int64 { return l.RBD }},
	{"OSD", func(l cell.Layers) int64 { return l.OSD }},
	{"zvol", func(l cell.Layers) int64 { return l.Zvol }},
	{"disk", func(l cell.Layers) int64 { return l.Disk }},
}

// side is one configuration of a line, over its rounds.
type side struct {
	tps, sustained, flushes, flushTime, busy statistics.Summary
	// written bytes for each transaction, in the order of layers.
	written []statistics.Summary
	// rounds are the TPS by round.
	rounds map[int]float64
}

// line has the sides of a group by their configuration.
type line struct {
	harness.Group
	sides map[string]side
}

type figures struct{ lines []line }

// summarise the rounds.
func summarise(cells []cell.Cell) figures {
	var f figures
	for _, group := range harness.Groups(cells) {
		l := line{group, map[string]side{}}
		for _, name := range cell.Configurations() {
			l.sides[name] = sideOf(harness.Select(cells, group, name))
		}
		f.lines = append(f.lines, l)
	}
	return f
}

// sideOf the cells of one configuration in one group.
func sideOf(cells []cell.Cell) side {
	s := side{
		tps:       harness.Of(cells, func(c cell.Cell) float64 { return c.TPS }),
		sustained: harness.Of(cells, func(c cell.Cell) float64 { return c.Sustained() }),
		flushes:   harness.Of(cells, func(c cell.Cell) float64 { return c.PerTransaction(c.Disk.Flushes) }),
		flushTime: harness.Of(cells, func(c cell.Cell) float64 { return c.Disk.FlushTime() }),
		busy:      harness.Of(cells, func(c cell.Cell) float64 { return c.Busy * 100 }),
		rounds:    harness.ByRound(cells),
	}
	for _, l := range layers {
		s.written = append(s.written, harness.Of(cells, func(c cell.Cell) float64 { return c.PerTransaction(l.of(c.Written)) }))
	}
	return s
}

// ratio of a configuration's TPS to another's.
func (l line) ratio(name, other string) float64 {
	return l.sides[name].tps.Median / max(1e-9, l.sides[other].tps.Median)
}

// print the table of rates, in Markdown.
func (f figures) print(out io.Writer) {
	harness.Header(out, "commit", "clients", "configuration", "TPS, median (least to most); 95% interval of the mean", "of the dataset's", "TPS with the checkpoint", "flushes of the disk per transaction, ms of each", "processors busy")
	for _, l := range f.lines {
		for _, name := range cell.Configurations() {
			s := l.sides[name]
			_, _ = fmt.Fprintf(out, "| %s | %d | %s | %s | %.2f | %.0f | %.2f, %.1f | %.0f%% |\n",
				l.Commit(), l.Clients, name, harness.Spread(s.tps, 0, 1), l.ratio(name, cell.Dataset),
				s.sustained.Median, s.flushes.Median, s.flushTime.Median, s.busy.Median)
		}
	}
}

// printLayers prints the table of bytes, in Markdown.
func (f figures) printLayers(out io.Writer) {
	columns := []string{"commit", "clients", "configuration"}
	for _, l := range layers {
		columns = append(columns, l.name)
	}
	harness.Header(out, append(columns, "disk / Postgres")...)
	for _, l := range f.lines {
		for _, name := range cell.Configurations() {
			_, _ = fmt.Fprintf(out, "| %s | %d | %s |", l.Commit(), l.Clients, name)
			written := l.sides[name].written
			for _, w := range written {
				_, _ = fmt.Fprintf(out, " %s |", kilobytes(w))
			}
			_, _ = fmt.Fprintf(out, " %.1f |\n", written[len(written)-1].Median/max(1, written[0].Median))
		}
	}
}

// kilobytes, or nothing where a configuration has no such layer.
func kilobytes(s statistics.Summary) string {
	if s.Max == 0 {
		return "–"
	}
	return harness.Spread(s, 1, 1e3)
}

// results in Go's benchmark format. An operation is a transaction.
func (f figures) results() string {
	var b strings.Builder
	for _, l := range f.lines {
		for _, name := range cell.Configurations() {
			s := l.sides[name]
			_, _ = fmt.Fprintf(&b, "BenchmarkCeph/commit=%s/clients=%d/configuration=%s\t1\t%.0f ns/op\t%.1f tps",
				l.Commit(), l.Clients, strings.NewReplacer(", ", "-", " ", "-").Replace(name), 1e9/max(1e-9, s.tps.Median), s.tps.Median)
			for i, w := range s.written {
				_, _ = fmt.Fprintf(&b, "\t%.0f %s-B/op", w.Median, strings.ToLower(layers[i].name))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}
