//go:build linux

package zfs

import (
	"bytes"
	"errors"
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
	"github.com/pgstorage/pgstorage/test/bench/harness/harnesstest"
	"github.com/pgstorage/pgstorage/test/bench/measure"
	"github.com/pgstorage/pgstorage/test/bench/zfs/cell"
)

// matrixRun in which a larger record costs as much as it is larger, and nothing else
// matters.
func matrixRun(t *testing.T, o options) *measured {
	t.Helper()
	m := &measured{Conditions: harness.Conditions{Accelerator: "tcg"}, facts: cell.Facts{
		DatabaseBytes: 600 << 20, Properties: map[string]map[string]string{}, Parameters: map[string]map[string]string{},
	}}
	for _, v := range variants {
		m.facts.Properties[v.Name] = map[string]string{"data.recordsize": "8K"}
		m.facts.Parameters[v.Name] = map[string]string{"shared_buffers": "8192"}
		if slices.Contains(v.Data, "recordsize=128k") {
			m.facts.Properties[v.Name]["data.recordsize"] = "128K"
		}
	}
	for i, turn := range o.matrix.Turns {
		tps, written := 100+float64(turn.Repeat)+0.1*float64(i%7), int64(100000+1000*(i%5))
		if m.facts.Properties[turn.Variant]["data.recordsize"] == "128K" {
			tps, written = tps*0.8, written*4
		}
		latencies := histogram.New()
		if err := latencies.Record(40000); err != nil {
			t.Fatal(err)
		}
		m.turns = append(m.turns, cell.Cell{
			Sample:  measure.Sample{Round: turn.Repeat, Configuration: turn.Variant, Durable: turn.Durable, Clients: 4, TPS: tps, Transactions: 1000},
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

func TestEveryVariantHasATurnInEachRepeatAndTier(t *testing.T) {
	o := matrixOptions(t)
	turns := o.matrix.Turns
	block := 2 * len(variants)
	if len(turns) != o.repeats*block {
		t.Fatalf("%d turns, want %d", len(turns), o.repeats*block)
	}
	for i, turn := range turns {
		if turn.Repeat != i/block+1 {
			t.Fatalf("turn %d is of repeat %d", i, turn.Repeat)
		}
		if slices.Index(turns, turn) != i {
			t.Errorf("the turn %+v is planned twice", turn)
		}
	}
	if !slices.Equal(turns, matrixOptions(t).matrix.Turns) || slices.Equal(turns, matrixOptions(t, "-seed", "2").matrix.Turns) {
		t.Error("the order is not that of the seed")
	}
	if got := o.matrix.Parameters["shared_buffers"]; got != "64MB" {
		t.Errorf("shared_buffers is %s, want 64MB: %d databases must fit side by side", got, len(variants))
	}
	if none := matrixOptions(t, "-repeats", "0").matrix; none.Turns != nil || none.Variants != nil {
		t.Errorf("without repeats the matrix is %+v, want an empty one", none)
	}
}

func TestEveryVariantChangesWhatIsDeclaredAsVaried(t *testing.T) {
	for _, v := range variants[1:] {
		if changes(v) == "" {
			t.Errorf("%s changes nothing", v.Name)
		}
		for _, property := range v.Data {
			name, _, _ := strings.Cut(property, "=")
			if !slices.Contains(varied["Storage"], "data."+name) {
				t.Errorf("%s changes %s, which varied does not list", v.Name, property)
			}
		}
	}
}

func TestMatrixFindsWhatMattersWithinEachTier(t *testing.T) {
	o := matrixOptions(t)
	m := matrixRun(t, o)
	x, err := m.analyse(o)
	if err != nil {
		t.Fatal(err)
	}
	if len(x.groups) != 2 || len(x.analysis.Tiers) != 2 {
		t.Fatalf("%d groups and %d tiers, want 2 of each", len(x.groups), len(x.analysis.Tiers))
	}
	for _, g := range x.groups {
		for _, v := range variants[1:] {
			want, wantBytes := comparison.NoDifference, comparison.NoDifference
			if slices.Contains(v.Data, "recordsize=128k") {
				want, wantBytes = comparison.Worse, comparison.Worse
			}
			full := name(v.Name, g.durable)
			if got := g.tps[full]; got.Verdict != want {
				t.Errorf("TPS of %s: %s, want %s: %s", full, got.Verdict, want, got.Message)
			}
			if got := g.bytes[full]; got.Verdict != wantBytes {
				t.Errorf("bytes of %s: %s, want %s: %s", full, got.Verdict, wantBytes, got.Message)
			}
		}
		if _, there := g.tps[name(theProfile, !g.durable)]; there {
			t.Error("the profile is compared across tiers")
		}
	}
	harnesstest.Contains(t, matrixReport(o, m, x),
		"**Durable commits (Local), means with their 95% intervals**", "**Relaxed commits (Async), means with their 95% intervals**",
		"| no difference can be claimed |", "| 5 of 5 |\n", "Worse: as ZFS comes, atime=off alone, recordsize=128k. No difference", "Corrected for 9 comparisons", "](zfs-matrix.svg)", "](zfs-matrix.jsonl)")
}

// A disk that answers sooner than it can flush makes its runs useless. The others count.
func TestRunsWithoutRealFlushesAreExcluded(t *testing.T) {
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
	harnesstest.Contains(t, matrixReport(o, m, x), "| 4 of 5 |", "FlushNotHonoured (Rejected) in 10 runs")
}

func TestMatrixWithoutAResultIsAnError(t *testing.T) {
	o := matrixOptions(t)
	m := matrixRun(t, o)
	m.turns[3].Result = nil
	if _, err := m.analyse(o); err == nil {
		t.Error("a turn has no result, and analyse returns no error")
	}
	m = matrixRun(t, o)
	m.turns = m.turns[:1]
	if _, err := m.analyse(o); err == nil {
		t.Error("one variant has one turn, and analyse returns no error")
	}
}

// The chart of all variants must be small enough for the repository.
func TestMatrixIsWrittenAsPageChartAndRuns(t *testing.T) {
	dir := t.TempDir()
	o := matrixOptions(t, "-out", dir, "-html", filepath.Join(dir, "new", "zfs-matrix.html"))
	m := matrixRun(t, o)
	if err := errors.Join(m.saveRuns(dir), m.publishMatrix(o)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "zfs.md"))
	if err != nil || strings.Contains(string(text), "%!") {
		t.Errorf("%v\n%s", err, text)
	}
	harnesstest.Contains(t, string(text), matrixPlace.Begin+"\nIn a run of ")
	const most = 200e3
	if svg, err := os.ReadFile(filepath.Join(dir, "zfs-matrix.svg")); err != nil || !bytes.Contains(svg, []byte("<svg")) || len(svg) > most {
		t.Errorf("the chart has %d bytes (%v), want an SVG of at most %.0f", len(svg), err, float64(most))
	}
	if html, err := os.ReadFile(o.html); err != nil || !bytes.Contains(html, []byte("recordsize=128k, relaxed")) {
		t.Errorf("the page of %d bytes lacks a variant: %v", len(html), err)
	}
	runs := filepath.Join(dir, "zfs-matrix.jsonl")
	harnesstest.Lines(t, runs, len(m.turns))
	if _, err := os.Stat(filepath.Join(dir, "zfs.jsonl")); err == nil {
		t.Error("zfs.jsonl is written without any run")
	}
	raw, err := os.ReadFile(runs)
	if err != nil {
		t.Fatal(err)
	}
	var again []cell.Cell
	take := harness.Each(func(c cell.Cell) { again = append(again, c) })
	for line := range bytes.Lines(raw) {
		if err := take(line); err != nil {
			t.Fatal(err)
		}
	}
	if len(again) != len(m.turns) || again[0].Latencies.Count() != 1 || again[0].Result.TPS != m.turns[0].TPS {
		t.Errorf("%d runs are read back, the first %+v, want %d as they were written", len(again), again[0], len(m.turns))
	}
}
