package report

import (
	"os"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/record"
	"github.com/pgstorage/pgstorage/internal/bench/report"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/testing/benchmarks"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

func show(t *testing.T, s snapshot.Records, form report.Form) string {
	t.Helper()
	r, err := Assemble(s)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := report.Write(&b, form, r, report.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// unwrapped returns a text without its line breaks.
func unwrapped(text string) string { return strings.Join(strings.Fields(text), " ") }

func TestReportsMatchGoldenFiles(t *testing.T) {
	for name, o := range map[string]benchmarks.Objects{
		"tiers":    benchmarks.Whole(t, "bench"),
		"half-way": benchmarks.HalfWay(t, "bench"),
		"bare":     benchmarks.HalfWay(t, "bench").Without(0, 1, 2, 3, 4, 5),
		"single":   benchmarks.Single(t, "bench", 5, benchmarks.Local(t)),
	} {
		t.Run(name, func(t *testing.T) {
			golden.Text(t, "testdata/"+name+".golden.txt", show(t, o.Snapshot(), report.Text))
		})
	}
	golden.Text(t, "testdata/tiers.golden.md", show(t, benchmarks.Whole(t, "bench").Snapshot(), report.Markdown))
	golden.Text(t, "testdata/tiers.golden.csv", show(t, benchmarks.Whole(t, "bench").Snapshot(), report.CSV))
}

func TestDocumentationShowsTheBeginningOfAReport(t *testing.T) {
	page, err := os.ReadFile("../../../docs/report.md")
	if err != nil {
		t.Fatal(err)
	}
	begin, _, _ := strings.Cut(show(t, benchmarks.Whole(t, "bench").Snapshot(), report.Text), "\nRuns over time\n")
	if !strings.Contains(string(page), "\n```\n"+begin+"```\n") {
		t.Error("docs/report.md does not contain the beginning of the report as printed")
	}
}

// The figures of the run stay.
func TestMissingRecordsAreNotedWithTheirCause(t *testing.T) {
	for want, change := range map[string]func(*snapshot.Records, *v1alpha1.PgBenchmark){
		"its PgBenchmark, which owns the record, is missing": func(s *snapshot.Records, run *v1alpha1.PgBenchmark) { delete(s.Runs, run.Name) },
		"its runner stored no record":                        func(_ *snapshot.Records, run *v1alpha1.PgBenchmark) { run.Status.Run.Record = "" },
		"the ConfigMap of its record is missing":             func(s *snapshot.Records, run *v1alpha1.PgBenchmark) { delete(s.ByBenchmark, run.Name) },
		"its record is invalid: decode record": func(s *snapshot.Records, run *v1alpha1.PgBenchmark) {
			s.ByBenchmark[run.Name] = map[string][]byte{record.Key: {1}}
		},
		"its record belongs to another attempt than its status": func(_ *snapshot.Records, run *v1alpha1.PgBenchmark) { run.Status.Run.Attempt = "another" },
		"its record has 0 runs instead of one":                  emptied(t),
		"Cannot read records: forbidden": func(s *snapshot.Records, _ *v1alpha1.PgBenchmark) {
			s.Unread = []snapshot.Unread{{What: "records", Why: "Cannot read records: forbidden"}}
		},
	} {
		o := benchmarks.Whole(t, "bench")
		s := o.Snapshot()
		change(&s, o.Runs[0])
		r, err := Assemble(s)
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(r.Notes, " "); len(r.Notes) != 1 || !strings.Contains(notes, want) {
			t.Errorf("want %q, got %q", want, notes)
		}
		first := r.Groups[0].Variants[0].Repeats[0]
		if missing := first.Seconds == nil; missing != (len(s.Unread) == 0) || !first.Counted || first.TPS == 0 || first.LatencyP99 == 0 {
			t.Errorf("%s: %+v", want, first)
		}
	}
}

func emptied(t *testing.T) func(*snapshot.Records, *v1alpha1.PgBenchmark) {
	return func(s *snapshot.Records, run *v1alpha1.PgBenchmark) {
		data, err := record.Encode(record.Record{Attempt: run.Status.Run.Attempt})
		if err != nil {
			t.Fatal(err)
		}
		s.ByBenchmark[run.Name] = data
	}
}

func TestRejectedRunsStayRejectedWithoutARecord(t *testing.T) {
	rejected := []v1alpha1.BenchmarkFinding{{Check: validity.CheckThrottling, Verdict: "Rejected", Reason: v1alpha1.ReasonPodThrottled, Message: "pod shop-1 waited"}}
	for name, change := range map[string]func(*benchmarks.Objects){
		"by the run's own status": func(o *benchmarks.Objects) {
			o.Runs[0].Status.Run.Results = []v1alpha1.BenchmarkResult{{Clients: 1, TPSOfRuns: []string{"1"}, Rejected: 1, Findings: rejected, Passed: []string{validity.CheckClock}}}
		},
		"by the status of the matrix": func(o *benchmarks.Objects) {
			run := &o.Benchmark.Status.Matrix.Variants[0].Runs[0]
			run.Rejected, run.Findings = v1alpha1.ReasonPodThrottled, []string{validity.ReasonLevelChanged}
		},
	} {
		o := benchmarks.HalfWay(t, "bench").Without(0)
		change(&o)
		r, err := Assemble(o.Snapshot())
		if err != nil {
			t.Fatal(err)
		}
		v := r.Groups[0].Variants[0]
		if v.Repeats[0].Counted || !v.Repeats[1].Counted || v.TPS.N != 1 || !strings.Contains(show(t, o.Snapshot(), report.Text), "Rejected PodThrottled") {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// The status does not say which repeats of a result were rejected.
func TestNoRepeatCountsIfAnUnknownOneIsRejected(t *testing.T) {
	for rejected, counted := range map[int32]int{0: 5, 2: 0, 5: 0} {
		o := benchmarks.Single(t, "bench", 5, benchmarks.Local(t)).Without(0)
		result := &o.Benchmark.Status.Run.Results[0]
		if result.Rejected = rejected; rejected > 0 {
			result.Findings = []v1alpha1.BenchmarkFinding{{Check: validity.CheckThrottling, Verdict: "Rejected", Reason: v1alpha1.ReasonPodThrottled, Message: "it waited"}}
		}
		r, err := Assemble(o.Snapshot())
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, repeat := range r.Groups[0].Variants[0].Repeats {
			if repeat.Counted {
				n++
			}
		}
		if n != counted {
			t.Errorf("%d rejected: %d of 5 count, want %d", rejected, n, counted)
		}
	}
}

func TestChecksWithoutFactsDoNotPass(t *testing.T) {
	r, err := Assemble(benchmarks.HalfWay(t, "bench").Without(0, 1, 2, 3, 4, 5).Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range r.Groups {
		for _, v := range g.Variants {
			for _, repeat := range v.Repeats {
				for _, f := range repeat.Findings {
					if f.Verdict == validity.Passed && (f.Check != validity.CheckFlush || g.Durability != v1alpha1.DurabilityAsync) {
						t.Errorf("%s repeat %d: %+v", v.Name, repeat.Number, f)
					}
				}
			}
		}
	}
}

func TestReportOnABenchmarkWithoutMatrix(t *testing.T) {
	stopped := func(reason, message string) func(*benchmarks.Objects) {
		return func(o *benchmarks.Objects) {
			o.Benchmark.Status.Phase = "Failed"
			o.Benchmark.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionFalse, Reason: reason, Message: message}}
		}
	}
	for want, tc := range map[string]struct {
		runs   int
		change func(*benchmarks.Objects)
	}{
		"The benchmark is incomplete: 3 runs succeeded, 0 failed, 0 were skipped, 7 have not ended; variants without a completed run: clients=4.": {runs: 3},
		"Variants are ranked once all runs have ended":                                                    {runs: 3},
		"No run has ended, so there are no figures.":                                                      {runs: 0},
		"10 runs succeeded":                                                                               {runs: 10, change: func(o *benchmarks.Objects) { o.Benchmark.Spec.Pgbench.Repeats = 6 }},
		"No variant has a counted repeat, so there are no figures.":                                       {10, stopped(v1alpha1.ReasonIntegrityFailed, "Amcheck: a page is torn")},
		"The benchmark failed: Interrupted: the node went. The integrity of the database was not checked": {4, stopped(v1alpha1.ReasonInterrupted, "the node went")},
		"4 runs succeeded, 0 failed, 0 were skipped, 6 have not ended (Interrupted)":                      {4, stopped(v1alpha1.ReasonInterrupted, "the node went")},
		"Only the status describes 10 run(s) (repeat 1 of clients=1; repeat 2 of clients":                 {10, func(o *benchmarks.Objects) { *o = o.Without(0) }},
	} {
		runs := benchmarks.Local(t)
		o := benchmarks.Single(t, "bench", 5, runs)
		if tc.runs < len(runs) {
			o = benchmarks.Single(t, "bench", 5, runs[:max(1, tc.runs)])
		}
		if tc.runs == 0 {
			o.Benchmark.Status = v1alpha1.PgBenchmarkStatus{}
		}
		if tc.change != nil {
			tc.change(&o)
		}
		if got := unwrapped(show(t, o.Snapshot(), report.Text)); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// The name contains markup, a formula and an escape sequence.
func TestHostileNamesAreEscapedInEveryForm(t *testing.T) {
	s := benchmarks.Hostile(t, "bench").Snapshot()
	for _, form := range report.Forms {
		got := show(t, s, form)
		if !strings.Contains(got, "calc") {
			t.Errorf("%s does not contain the name", form)
		}
		if strings.Contains(got, "\x1b") || form != report.JSON && strings.Contains(got, "\u202e") || (form == report.HTML || form == report.SVG) && strings.Contains(got, "<script") {
			t.Errorf("%s does not escape the name", form)
		}
	}
}

func TestReportSaysThatCachesWereEmptied(t *testing.T) {
	for _, cold := range []bool{false, true} {
		b := &v1alpha1.PgBenchmark{}
		b.Spec.Pgbench.ColdCache = cold
		if got := slices.Contains(about(b).Facts, report.Fact{Name: "caches", Value: "emptied before each run"}); got != cold {
			t.Errorf("cold %v: %+v", cold, about(b).Facts)
		}
	}
}

func TestLayersAreSummarisedOverAllRecords(t *testing.T) {
	g := &assembly{layers: map[string][]layer{}}
	for i, ms := range [][]float64{{1, 2}, {3}, nil} {
		flushes := float64(i)
		g.addLayers("a", []record.Layer{{Name: "device", Method: "fio", Milliseconds: []float64{1}}, {Name: "WAL", Over: "device", Milliseconds: ms, Flushes: &flushes}, {Name: "counted", Bytes: &flushes}, {Name: "neither"}})
	}
	got, err := g.summariseLayers()
	if err != nil {
		t.Fatal(err)
	}
	if a := got["a"]; len(a) != 3 || a[2].Name != "counted" || a[2].Time.N != 0 || a[2].Bytes.Mean != 1 || a[2].Bytes.N != 3 || a[2].Requests != nil || a[0].Time.N != 3 || a[1].Time.N != 3 || a[1].Time.Mean != 2 || a[1].Over != "device" || a[1].Flushes.Mean != 0.5 {
		t.Errorf("%+v", a)
	}
}

func TestReportHasTheGateOfTheBenchmark(t *testing.T) {
	for status, want := range map[metav1.ConditionStatus]string{metav1.ConditionTrue: "Passed", metav1.ConditionFalse: "Failed", metav1.ConditionUnknown: "Undecided"} {
		o := benchmarks.Whole(t, "bench")
		o.Benchmark.Status.Conditions = append(o.Benchmark.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionNotRegressed, Status: status, Reason: "Reason", Message: "of the gate"})
		if got := unwrapped(show(t, o.Snapshot(), report.Text)); !strings.Contains(got, want+" (Reason: of the gate)") {
			t.Errorf("status %s: want the gate %s in\n%s", status, want, got)
		}
	}
	o := benchmarks.Whole(t, "bench")
	if got := gate(o.Benchmark); got != nil {
		t.Errorf("got a gate %+v, want none", got)
	}
	o.Benchmark.Spec.Gate = &v1alpha1.BenchmarkGate{}
	if got := gate(o.Benchmark); got == nil || got.Passed != nil {
		t.Errorf("got a gate %+v, want one that has not decided", got)
	}
}
