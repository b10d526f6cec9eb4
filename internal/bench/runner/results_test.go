package runner

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

func ran(clients int32, tps, avg float64) MeasuredRun {
	r := &pgbench.Result{TPS: tps, Threads: 2}
	r.LatencyAvg, r.Transactions = avg, int64(tps)
	return MeasuredRun{Clients: clients, Result: r}
}

func TestSummariseTakesTheMedianRun(t *testing.T) {
	runs := []MeasuredRun{ran(1, 10, 1), ran(4, 40, 4), ran(1, 30, 3), ran(4, 60, 6), ran(1, 20, 2)}
	got := summarise([]int32{4, 1, 16}, runs)
	if len(got) != 2 {
		t.Fatalf("%d results", len(got))
	}
	four, one := got[0], got[1]
	if four.Clients != 4 || four.TPS != "40.00" || four.LatencyAverage != "4.000" || four.LatencyP50 != "" {
		t.Errorf("of two runs, the lower: %+v", four)
	}
	if one.Clients != 1 || one.TPS != "20.00" || one.LatencyAverage != "2.000" {
		t.Errorf("of three runs, the middle: %+v", one)
	}
	if diff := cmp.Diff([]string{"10.00", "30.00", "20.00"}, one.TPSOfRuns); diff != "" {
		t.Error(diff)
	}
}

// judged is a run with what two checks say of it.
func judged(repeat int, tps float64, flush, throttling validity.Verdict) MeasuredRun {
	r := ran(1, tps, 1)
	r.Repeat, r.Rejected = repeat, throttling == validity.Rejected
	message := strings.Repeat("seen, ", 100)
	r.Findings = []validity.Finding{
		{Check: validity.CheckFlush, Verdict: flush, Reason: string(flush), Message: message},
		{Check: validity.CheckThrottling, Verdict: throttling, Reason: string(throttling), Message: message},
	}
	return r
}

func TestRejectedRunsDoNotCount(t *testing.T) {
	const passed, notRun, caution, rejected = validity.Passed, validity.NotRun, validity.Caution, validity.Rejected
	got := summarise([]int32{1}, []MeasuredRun{judged(1, 10, passed, passed), judged(2, 90, passed, rejected), judged(3, 80, passed, rejected), judged(4, 12, passed, caution)})[0]
	if got.TPS != "10.00" || got.Rejected != 2 || len(got.TPSOfRuns) != 4 {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff([]string{validity.CheckFlush}, got.Passed); diff != "" {
		t.Error(diff)
	}
	if len(got.Findings) != 2 {
		t.Fatalf("%+v", got.Findings)
	}
	throttled, repeats := got.Findings[0], got.Findings[1]
	if throttled.Verdict != string(rejected) || throttled.Runs != 2 || !strings.HasPrefix(throttled.Message, "repeat 2: seen") || len(throttled.Message) > mostOfFinding {
		t.Errorf("%+v", throttled)
	}
	if repeats.Check != validity.CheckRepeats || repeats.Reason != validity.ReasonTooFewRepeats || !strings.HasPrefix(repeats.Message, "2 repeat(s)") || repeats.Runs != 0 {
		t.Errorf("of those that count: %+v", repeats)
	}

	all := summarise([]int32{1}, []MeasuredRun{judged(1, 10, notRun, rejected), judged(2, 20, notRun, rejected)})[0]
	if all.TPS != "10.00" || all.Rejected != 2 || all.Passed != nil {
		t.Errorf("where all are rejected the figure is given all the same: %+v", all)
	}
	if f := all.Findings[0]; f.Verdict != string(notRun) || f.Runs != 2 || strings.HasPrefix(f.Message, "repeat") {
		t.Errorf("%+v", f)
	}
}

func TestFiguresAreBounded(t *testing.T) {
	run := ran(1, 1, 1)
	for range 100 {
		run.Result.Statements = append(run.Result.Statements, pgbench.Statement{SQL: strings.Repeat("é", 1000)})
	}
	got := figures(run)
	if sql := got.Statements[0].SQL; len(got.Statements) != maxStatements || sql != strings.Repeat("é", 98)+"..." {
		t.Errorf("%d statements, the first of %d bytes: %s", len(got.Statements), len(sql), sql)
	}
}

func TestPercentOnlyGrows(t *testing.T) {
	s := parsed(t, `{"durability": "Local", "pgbench": {"scale": 10, "clients": [1, 2], "repeats": 2, "duration": "10s", "warmUp": "5s"}}`)
	b := newBudget(s)
	var last int32
	for _, step := range []struct {
		phase string
		runs  int
	}{{PhaseInitialising, 0}, {PhaseWarmingUp, 0}, {PhaseRunning, 0}, {PhaseRunning, 1}, {PhaseRunning, 2}, {PhaseRunning, 3}, {PhaseCheckingIntegrity, 4}} {
		for _, fraction := range []float64{-1, 0, 0.5, 1, 7} {
			got := b.percent(step.phase, step.runs, fraction)
			if got < last || got > 100 {
				t.Errorf("%+v at %v: %d after %d", step, fraction, got, last)
			}
			last = got
		}
	}
	if last != 100 || b.percent(PhaseSucceeded, 4, 0) != 100 {
		t.Errorf("ends at %d", last)
	}
}

func TestMeter(t *testing.T) {
	byTime := newMeter(pgbench.RunOptions{Duration: 10 * time.Second})
	if got := byTime.at(pgbench.Progress{At: 5 * time.Second}); got != 0.5 {
		t.Errorf("%v", got)
	}
	byNumber := newMeter(pgbench.RunOptions{Transactions: 100, Clients: 2})
	byNumber.at(pgbench.Progress{At: time.Second, TPS: 50})
	if got := byNumber.at(pgbench.Progress{At: 3 * time.Second, TPS: 25}); got != 0.5 {
		t.Errorf("%v", got)
	}
}

func TestInitFraction(t *testing.T) {
	for want, p := range map[float64]pgbench.InitProgress{
		0: {Step: "creating tables"}, 0.35: {Step: "generating data", Percent: 50}, generating: {Step: "creating primary keys"}, 1: {Done: true},
	} {
		if got := initFraction(p); got != want {
			t.Errorf("%+v: %v", p, got)
		}
	}
}

func TestSamplingBoundsTheLog(t *testing.T) {
	for _, tc := range []struct {
		name          string
		seen          float64
		seenOf        int
		options       pgbench.RunOptions
		least, atMost float64
	}{
		{"slow run", 1000, 1, pgbench.RunOptions{Clients: 1, Duration: time.Minute}, 1, 1},
		{"fast run", 10000, 4, pgbench.RunOptions{Clients: 4, Duration: time.Minute}, 0.25, 0.25},
		{"fast run by number", 10000, 4, pgbench.RunOptions{Clients: 4, Transactions: 10}, 0.25, 0.25},
		{"more clients", 2500, 4, pgbench.RunOptions{Clients: 16, Duration: time.Minute}, 0.25, 0.25},
		{"long run", 1000, 1, pgbench.RunOptions{Clients: 1, Duration: 4000 * time.Second}, 0.5, 0.5},
		{"nothing seen", 0, 0, pgbench.RunOptions{Clients: 1, Duration: 1000 * time.Second}, 0.1, 0.1},
		{"by number", 0, 0, pgbench.RunOptions{Clients: 10, Transactions: 1e6}, 0.2, 0.2},
	} {
		r := &execution{rate: tc.seen, rateClients: tc.seenOf}
		if got := r.sampling(tc.options); got < tc.least || got > tc.atMost {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}

func TestFingerprint(t *testing.T) {
	of := func(settings ...setting) string { return hash(slices.DeleteFunc(settings, passing)) }
	buffers, memory := setting{"shared_buffers", "16384", "configuration file"}, setting{"work_mem", "4096", "database"}
	base := of(buffers, memory)
	same := of(memory, buffers, setting{"port", "5433", "command line"}, setting{"cluster_name", "b", "command line"},
		setting{"application_name", "x", "client"}, setting{"cnpg.config_sha256", "y", "configuration file"})
	if base != same {
		t.Error("order, names of the pod and our own session must not matter")
	}
	if base == of(buffers, setting{"work_mem", "8192", "database"}) {
		t.Error("a changed setting must matter")
	}
}
