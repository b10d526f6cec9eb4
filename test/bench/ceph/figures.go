//go:build linux

package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	//nolint:depguard // a measurement

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/test/bench/ceph/cell"
	"github.com/pgstorage/pgstorage/test/bench/harness"
)

// key of what is compared: configurations within one of these, and no others.
type key struct {
	durable bool
	clients int
}

func (k key) commit() string {
	if k.durable {
		return "durable"
	}
	return "relaxed"
}

func (k key) tier() v1alpha1.DurabilityTier {
	if k.durable {
		return v1alpha1.DurabilityLocal
	}
	return v1alpha1.DurabilityAsync
}

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

// line has the sides by their configuration.
type line struct {
	key
	sides map[string]side
}

type figures struct {
	lines []line
	err   error
}

// summarise the rounds.
func summarise(cells []cell.Cell) figures {
	var f figures
	for _, durable := range []bool{true, false} {
		for _, clients := range clientsOf(cells) {
			l := line{key{durable, clients}, map[string]side{}}
			for _, name := range cell.Configurations() {
				l.sides[name] = f.side(slices.DeleteFunc(slices.Clone(cells), func(c cell.Cell) bool {
					return c.Configuration != name || c.Durable != durable || c.Clients != clients
				}))
			}
			f.lines = append(f.lines, l)
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

// side of the cells of one configuration in one line.
func (f *figures) side(cells []cell.Cell) side {
	of := func(value func(cell.Cell) float64) statistics.Summary {
		var values []float64
		for _, c := range cells {
			values = append(values, value(c))
		}
		s, err := statistics.Summarise(values)
		if err != nil && f.err == nil {
			f.err = err
		}
		return s
	}
	s := side{
		tps:       of(func(c cell.Cell) float64 { return c.TPS }),
		sustained: of(sustained),
		flushes:   of(func(c cell.Cell) float64 { return float64(c.Disk.Flushes) / float64(max(1, c.Transactions)) }),
		flushTime: of(func(c cell.Cell) float64 { return float64(c.Disk.FlushMillis) / float64(max(1, c.Disk.Flushes)) }),
		busy:      of(func(c cell.Cell) float64 { return c.Busy * 100 }),
		rounds:    map[int]float64{},
	}
	for _, c := range cells {
		s.rounds[c.Round] = c.TPS
	}
	for _, l := range layers {
		s.written = append(s.written, of(func(c cell.Cell) float64 { return float64(l.of(c.Written)) / float64(max(1, c.Transactions)) }))
	}
	return s
}

// sustained is the rate with the time that it took to write what was left to the
// checkpoint: a run is short, and pgbench's own figure leaves that out.
func sustained(c cell.Cell) float64 {
	return float64(c.Transactions) / (float64(c.Transactions)/max(1e-9, c.TPS) + c.SettleSeconds)
}

// ratio of a configuration's TPS to another's.
func (l line) ratio(name, other string) float64 {
	return l.sides[name].tps.Median / max(1e-9, l.sides[other].tps.Median)
}

// print the table of rates, in Markdown.
func (f figures) print(out io.Writer) {
	_, _ = fmt.Fprintln(out, "| commit | clients | configuration | TPS, median (least to most); 95 % interval of the mean | of the dataset's | TPS with the checkpoint | flushes of the disk per transaction, ms of each | processors busy |")
	_, _ = fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|")
	for _, l := range f.lines {
		for _, name := range cell.Configurations() {
			s := l.sides[name]
			_, _ = fmt.Fprintf(out, "| %s | %d | %s | %s | %.2f | %.0f | %.2f, %.1f | %.0f%% |\n",
				l.commit(), l.clients, name, harness.Spread(s.tps, 0, 1), l.ratio(name, cell.Dataset),
				s.sustained.Median, s.flushes.Median, s.flushTime.Median, s.busy.Median)
		}
	}
}

// printLayers is the table of bytes, in Markdown.
func (f figures) printLayers(out io.Writer) {
	_, _ = fmt.Fprint(out, "| commit | clients | configuration |")
	for _, l := range layers {
		_, _ = fmt.Fprintf(out, " %s |", l.name)
	}
	_, _ = fmt.Fprintln(out, " disk / Postgres |\n|---|---|---|"+strings.Repeat("---|", len(layers)+1))
	for _, l := range f.lines {
		for _, name := range cell.Configurations() {
			_, _ = fmt.Fprintf(out, "| %s | %d | %s |", l.commit(), l.clients, name)
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

// benchmark prints Go's benchmark format. An operation is a transaction.
func (f figures) benchmark(out io.Writer) error {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "goos: %s\ngoarch: %s\npkg: github.com/pgstorage/pgstorage/test/bench/ceph\n", runtime.GOOS, runtime.GOARCH)
	for _, l := range f.lines {
		for _, name := range cell.Configurations() {
			s := l.sides[name]
			_, _ = fmt.Fprintf(&b, "BenchmarkCeph/commit=%s/clients=%d/configuration=%s\t1\t%.0f ns/op\t%.1f tps",
				l.commit(), l.clients, strings.NewReplacer(", ", "-", " ", "-").Replace(name), 1e9/max(1e-9, s.tps.Median), s.tps.Median)
			for i, w := range s.written {
				_, _ = fmt.Fprintf(&b, "\t%.0f %s-B/op", w.Median, strings.ToLower(layers[i].name))
			}
			b.WriteString("\n")
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
