//go:build linux

package runner

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/runner"
	"github.com/pgstorage/pgstorage/internal/testing/postgres"
	"github.com/pgstorage/pgstorage/test/bench/harness"
	"github.com/pgstorage/pgstorage/test/bench/harness/harnesstest"
)

// pairs of one line. Each has the runner's part of the bare rate, and a plain rate that is
// 2% more than the bare one.
func pairs(clients int, ratios ...float64) []Run {
	var out []Run
	for i, ratio := range ratios {
		for _, side := range []string{Bare, Plain, Runner} {
			r := Run{Pair: i + 1, Script: v1alpha1.ScriptSelectOnly, Clients: clients, Side: side, TPS: 1000 + 100*float64(i), SamplingRate: 0.5}
			switch side {
			case Runner:
				r.TPS *= ratio
			case Plain:
				r.TPS, r.SamplingRate = (1.02+0.0001*float64(i%2))*r.TPS, 0
			}
			out = append(out, r)
		}
	}
	return out
}

func TestVerdictIsByTheWholeInterval(t *testing.T) {
	for name, tc := range map[string]struct {
		ratios  []float64
		verdict string
		err     string
	}{
		"nothing":       {[]float64{0.999, 1.001, 1, 1.002, 0.998}, pass, ""},
		"half of it":    {[]float64{0.995, 0.996, 0.994, 0.995, 0.995}, pass, ""},
		"faster":        {[]float64{1.03, 1.02, 1.03, 1.02, 1.03}, pass, ""},
		"five percent":  {[]float64{0.95, 0.951, 0.949, 0.95, 0.95}, miss, "missed: SelectOnly, 4 clients: the runner costs 5.00% (4.91 to 5.09), at most 1%"},
		"a wide spread": {[]float64{0.9, 1.1, 0.95, 1.05, 1}, untold, "cannot be told: SelectOnly, 4 clients: the runner costs "},
		"two pairs":     {[]float64{1, 1.01}, untold, "cannot be told: SelectOnly, 4 clients: the runner costs too few pairs, at most 1%; about 3 pairs would tell"},
	} {
		f := summarise(pairs(4, tc.ratios...))
		if len(f.lines) != 3 || !f.lines[0].judged() {
			t.Fatalf("%s: %+v", name, f)
		}
		if bare := f.lines[1]; bare.judged() || bare.side != Bare || bare.against != Plain || len(tc.ratios) > 2 && !strings.HasPrefix(bare.cost(), "1.96% (1.96 to 1.97)") {
			t.Errorf("%s: observing costs %s: %+v", name, bare.cost(), bare)
		}
		if got := f.lines[0].verdict(); got != tc.verdict {
			t.Errorf("%s: %s, want %s: %s", name, got, tc.verdict, f.lines[0].cost())
		}
		err := f.judge()
		if (err == nil) != (tc.err == "") || err != nil && !strings.HasPrefix(err.Error(), tc.err) {
			t.Errorf("%s: %v, want %q", name, err, tc.err)
		}
	}
	if (figures{}).judge() == nil {
		t.Error("no run was measured, and no mark is missed")
	}
}

func TestPairsWithADisturbedSideAreLeftOut(t *testing.T) {
	f := summarise(pairs(4, 0.996, 0.994, 0.995, 0.8, 0.995, 0.994, 0.996, 1.2, 0.995))
	l := f.lines[0]
	if l.out != 2 || l.verdict() != pass || l.from.N != 7 || l.of.N != 7 {
		t.Errorf("%s: %+v", l.cost(), l)
	}
}

func TestWantedPairsGrowWithTheSpread(t *testing.T) {
	f := summarise(pairs(4, 0.97, 1.03, 0.98, 1.02, 1))
	if n := f.lines[0].wanted(); n < 30 || n > 60 {
		t.Errorf("%d pairs are wanted, want 30 to 60", n)
	}
}

func TestSidesOfAPairFollowEachOtherInRandomOrder(t *testing.T) {
	o, err := parse([]string{"-pairs", "20"})
	if err != nil {
		t.Fatal(err)
	}
	blocks := plan(o)
	var sizes []int
	orders := map[string]int{}
	for _, b := range blocks {
		sizes = append(sizes, b.repeats)
		if want := 2 + (b.repeats-1)*5; len(b.runs) != want {
			t.Fatalf("%d runs, want %d", len(b.runs), want)
		}
		for i, r := range b.runs[:2] {
			if want := (Run{Script: b.script, Clients: o.clients[i], Side: Runner}); r != want {
				t.Errorf("%+v, want %+v", r, want)
			}
		}
		for left := b.runs[2:]; len(left) > 0; {
			n := slices.IndexFunc(left[1:], func(r Run) bool { return r.Place == 1 }) + 1
			if n == 0 {
				n = len(left)
			}
			var sides []string
			for i, r := range left[:n] {
				if r.Pair != left[0].Pair || r.Script != b.script || r.Clients != left[0].Clients || r.Place != i+1 {
					t.Errorf("no pair: %+v", left[:n])
				}
				sides = append(sides, r.Side)
			}
			orders[strings.Join(sides, " ")]++
			left = left[n:]
		}
	}
	if !slices.Equal(sizes, []int{9, 9, 9, 9, 5, 5}) {
		t.Errorf("blocks of %d repeats", sizes)
	}
	// 20 pairs of 2 scripts and 2 numbers of clients, every other one with plain pgbench.
	for _, order := range []string{"runner bare", "bare runner", "runner bare plain", "plain bare runner"} {
		if orders[order] < 10 {
			t.Errorf("%s: %d times, of %v", order, orders[order], orders)
		}
	}
	if len(orders) != 4 {
		t.Errorf("other orders: %v", orders)
	}
	if !reflect.DeepEqual(blocks, plan(o)) {
		t.Error("the same seed gives another order")
	}
	o.seed++
	if reflect.DeepEqual(blocks, plan(o)) {
		t.Error("another seed gives the same order")
	}
	o.parts = true
	if got, want := len(plan(o)[0].runs), 2+8*2*(3+len(observing)); got != want {
		t.Errorf("%d runs of a block with parts, want %d", got, want)
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	o, err := parse([]string{"-clients", "2,8", "-pairs", "3", "-duration", "5s"})
	if err != nil || !slices.Equal(o.clients, harness.Clients{2, 8}) || o.pairs != 3 || o.seconds != 5*time.Second {
		t.Errorf("parse() = %+v, %v", o, err)
	}
	harnesstest.Rejected(t, parse, []string{"-clients", "0"}, []string{"-clients", "x"}, []string{"-pairs", "2"}, []string{"-duration", "1500ms"}, []string{"-warm-up", "0s"}, []string{"-scale", "0"})
}

func TestPageHasVerdictsAndRuns(t *testing.T) {
	o, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &measured{runs: pairs(4, 0.95, 0.951, 0.949), version: "pgbench (PostgreSQL) 15.18\n"}
	folder, text := harnesstest.Page(t, outcome(o, m))
	harnesstest.Contains(t, text, "\nOne run of ", "| at most 1% | MISS |\n", "the runner costs more than 1%; its log had 50% of the transactions.", "| SelectOnly | 4 | bare | ")
	harnesstest.Lines(t, filepath.Join(folder, "runner.jsonl"), len(m.runs))
}

func TestBenchstatReadsTheResults(t *testing.T) {
	f := summarise(slices.Concat(pairs(1, 1, 1.01, 0.99), pairs(4, 1, 1.01, 0.99)))
	harnesstest.Results(t, f.results(), "Runner", 6)
}

// The runner would retry a report that does not arrive for minutes.
func TestReportsOfTheRunnerArrive(t *testing.T) {
	reporter, stop, err := startReporter()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := reporter.Report(t.Context(), runner.RunStatus{Attempt: "bench", Phase: runner.PhaseRunning}); err != nil {
		t.Error(err)
	}
}

func TestEverySideRunsOnARealPostgres(t *testing.T) {
	o, err := parse([]string{"-duration", "1s", "-warm-up", "1s", "-scale", "1", "-clients", "2"})
	if err != nil {
		t.Fatal(err)
	}
	b, stop, err := open(t.Context(), o)
	if errors.Is(err, postgres.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	todo := block{script: v1alpha1.ScriptSimpleUpdate, repeats: 2}
	for i, side := range []string{Runner, "log", Plain, Bare, Runner} {
		todo.runs = append(todo.runs, Run{Pair: min(1, i), Script: todo.script, Clients: 2, Side: side})
	}
	due := todo.runs[1:]
	err = b.carryOut(t.Context(), todo, func(r Run) {
		if r.TPS <= 0 || r.Transactions <= 0 || (r.Side == Plain) != (r.SamplingRate == 0) || len(due) == 0 || r.Side != due[0].Side || r.Pair != due[0].Pair {
			t.Errorf("%+v, %d were due", r, len(due))
		}
		due = due[min(1, len(due)):]
	})
	if err != nil || len(due) > 0 {
		t.Errorf("%d runs were left out: %v", len(due), err)
	}
	if left, err := filepath.Glob(filepath.Join(b.dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
