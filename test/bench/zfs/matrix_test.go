//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/comparison"
	"github.com/pgstorage/pgstorage/internal/bench/histogram"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/test/bench/harness"
	"github.com/pgstorage/pgstorage/test/bench/zfs/cell"
)

// matrixRun in which a larger record costs as much as it is larger, and nothing else
// matters.
func matrixRun(t *testing.T, o options) *measured {
	t.Helper()
	m := &measured{accelerator: "tcg", facts: cell.Facts{
		DatabaseBytes: 600 << 20, Properties: map[string]map[string]string{}, Parameters: map[string]map[string]string{},
	}}
	for _, v := range variants {
		m.facts.Properties[v.Name] = map[string]string{"data.recordsize": "8K"}
		m.facts.Parameters[v.Name] = map[string]string{"shared_buffers": "8192"}
		if slices.Contains(v.Data, "recordsize=128k") {
			m.facts.Properties[v.Name]["data.recordsize"] = "128K"
		}
	}
	for i, turn := range o.plan.Matrix.Turns {
		tps, written := 100+float64(turn.Repeat)+0.1*float64(i%7), int64(100000+1000*(i%5))
		if m.facts.Properties[turn.Variant]["data.recordsize"] == "128K" {
			tps, written = tps*0.8, written*4
		}
		latencies := histogram.New()
		if err := latencies.Record(40000); err != nil {
			t.Fatal(err)
		}
		m.turns = append(m.turns, cell.Cell{
			Round: turn.Repeat, Configuration: turn.Variant, Durable: turn.Durable, Clients: 4, TPS: tps, Transactions: 1000,
			Running: cell.Counters{Flushes: 100, FlushMillis: 550}, Settled: cell.Counters{WriteBytes: written * 1000},
			Result: &pgbench.Result{Clients: 4, Duration: 8 * time.Second, Counts: pgbench.Counts{Transactions: 1000}, TPS: tps},
			Rates:  []float64{tps, tps, tps}, Latencies: latencies,
		})
	}
	return m
}

func matrixOptions(t *testing.T, args ...string) options {
	t.Helper()
	o, err := parse(args)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Every variant has its turn in each repeat and tier, in the order of the seed.
func TestTurns(t *testing.T) {
	o := matrixOptions(t)
	turns := o.plan.Matrix.Turns
	block := 2 * len(variants)
	if len(turns) != o.repeats*block {
		t.Fatalf("%d turns", len(turns))
	}
	for i, turn := range turns {
		if turn.Repeat != i/block+1 {
			t.Fatalf("turn %d is of repeat %d", i, turn.Repeat)
		}
		if slices.Index(turns, turn) != i {
			t.Errorf("twice: %+v", turn)
		}
	}
	if !slices.Equal(turns, matrixOptions(t).plan.Matrix.Turns) || slices.Equal(turns, matrixOptions(t, "-seed", "2").plan.Matrix.Turns) {
		t.Error("the order is not that of the seed")
	}
	if got := o.plan.Matrix.Parameters["shared_buffers"]; got != "64MB" {
		t.Errorf("shared_buffers of %s: %d databases have to fit side by side", got, len(variants))
	}
	if none := matrixOptions(t, "-repeats", "0").plan.Matrix; none.Turns != nil || none.Variants != nil {
		t.Errorf("%+v", none)
	}
}

// The names that settings are told to be varied by are those that are varied.
func TestVaried(t *testing.T) {
	for _, v := range variants[1:] {
		if changes(v) == "" {
			t.Errorf("%s changes nothing", v.Name)
		}
		for _, property := range v.Data {
			name, _, _ := strings.Cut(property, "=")
			if !slices.Contains(varied["Storage"], "data."+name) {
				t.Errorf("%s: %s is not said to be varied", v.Name, property)
			}
		}
	}
}

func TestMatrix(t *testing.T) {
	o := matrixOptions(t)
	m := matrixRun(t, o)
	x, err := m.analyse(o)
	if err != nil {
		t.Fatal(err)
	}
	if len(x.groups) != 2 || len(x.analysis.Tiers) != 2 {
		t.Fatalf("%d groups", len(x.groups))
	}
	for _, g := range x.groups {
		for _, v := range variants[1:] {
			want, wantBytes := comparison.NoDifference, comparison.NoDifference
			if slices.Contains(v.Data, "recordsize=128k") {
				want, wantBytes = comparison.Worse, comparison.Worse
			}
			full := name(v.Name, g.durable)
			if got := g.tps[full]; got.Verdict != want {
				t.Errorf("%s", got.Message)
			}
			if got := g.bytes[full]; got.Verdict != wantBytes {
				t.Errorf("%s", got.Message)
			}
		}
		if _, there := g.tps[name(theProfile, !g.durable)]; there {
			t.Error("compared across tiers")
		}
	}
	text := matrixReport(o, m, x)
	for _, want := range []string{
		"**Durable commits (Local), means with their 95 % intervals**", "**Relaxed commits (Async), means with their 95 % intervals**",
		"| no difference can be claimed |", "| 5 of 5 |\n", "Worse: as ZFS comes, atime=off alone, recordsize=128k. No difference", "Corrected for 9 comparisons", "](zfs-matrix.svg)", "](zfs-matrix.jsonl)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "%!") {
		t.Errorf("%s", text)
	}
}

// A disk that answers before it can have flushed is of no use, and its runs count for
// nothing; the others do.
func TestMatrixWithoutFlush(t *testing.T) {
	o := matrixOptions(t)
	m := matrixRun(t, o)
	for i := range m.turns {
		if c := &m.turns[i]; c.Round == 1 && c.Durable {
			c.Running.FlushMillis = 10
		}
	}
	x, err := m.analyse(o)
	if err != nil {
		t.Fatal(err)
	}
	text := matrixReport(o, m, x)
	if !strings.Contains(text, "| 4 of 5 |") || !strings.Contains(text, "FlushNotHonoured (Rejected) in 10 runs") {
		t.Errorf("%s", text)
	}
}

// A turn without a result is an error, and no figure.
func TestMatrixLacksAResult(t *testing.T) {
	o := matrixOptions(t)
	m := matrixRun(t, o)
	m.turns[3].Result = nil
	if _, err := m.analyse(o); err == nil {
		t.Error("no error")
	}
	m = matrixRun(t, o)
	m.turns = m.turns[:1]
	if _, err := m.analyse(o); err == nil {
		t.Error("one turn of one variant, and no error")
	}
}

// What is written can be read, and the chart of all variants is small enough to be kept.
func TestShowMatrix(t *testing.T) {
	dir := t.TempDir()
	o := matrixOptions(t, "-out", dir, "-html", filepath.Join(dir, "new", "zfs-matrix.html"))
	m := matrixRun(t, o)
	document := filepath.Join(dir, "zfs.md")
	if err := os.WriteFile(document, []byte("# Title\n\n"+matrixPlace.Begin+"\nold\n"+matrixPlace.End+"\n\nWhy.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.keep(dir); err != nil {
		t.Fatal(err)
	}
	if err := m.showMatrix(o); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(document)
	if err != nil || !strings.HasPrefix(string(text), "# Title\n\n"+matrixPlace.Begin+"\nIn a run of ") || !strings.HasSuffix(string(text), matrixPlace.End+"\n\nWhy.\n") {
		t.Errorf("%v\n%s", err, text)
	}
	const most = 200e3
	if svg, err := os.ReadFile(filepath.Join(dir, "zfs-matrix.svg")); err != nil || !bytes.Contains(svg, []byte("<svg")) || len(svg) > most {
		t.Errorf("%v, %d bytes", err, len(svg))
	}
	if html, err := os.ReadFile(o.html); err != nil || !bytes.Contains(html, []byte("recordsize=128k, relaxed")) {
		t.Errorf("%v, %d bytes", err, len(html))
	}
	raw, err := os.ReadFile(filepath.Join(dir, "zfs-matrix.jsonl"))
	if err != nil || bytes.Count(raw, []byte("\n")) != len(m.turns) {
		t.Errorf("%v\n%s", err, raw)
	}
	if _, err := os.Stat(filepath.Join(dir, "zfs.jsonl")); err == nil {
		t.Error("runs that were not made are written")
	}
	var again []cell.Cell
	take := harness.Each(func(c cell.Cell) { again = append(again, c) })
	for line := range bytes.Lines(raw) {
		if err := take(line); err != nil {
			t.Fatal(err)
		}
	}
	if len(again) != len(m.turns) || again[0].Latencies.Count() != 1 || again[0].Result.TPS != m.turns[0].TPS {
		t.Errorf("%+v", again[0])
	}
}
