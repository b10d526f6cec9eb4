package report

import (
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/bench/report"
	"github.com/pgstorage/pgstorage/internal/testing/benchmarks"
)

// Two PgBenchmarks are one report, in every form.
func TestTwoBenchmarksAreOneReport(t *testing.T) {
	one, other := benchmarks.Single(t, "bench", 5, benchmarks.Local(t)), benchmarks.Single(t, "bench", 5, benchmarks.Local(t))
	other.Benchmark.Name = "weekly"
	r, err := Assemble(one.Snapshot(), other.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range report.Forms {
		var b strings.Builder
		if err := report.Write(&b, form, r, report.Options{}); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"nightly", "weekly"} {
			if !strings.Contains(b.String(), name) {
				t.Errorf("%s does not name %s", form, name)
			}
		}
		if form == report.SVG && !strings.Contains(b.String(), "TPS over time, all runs") {
			t.Error("the curves are not in one chart")
		}
	}
	if _, err := Assemble(one.Snapshot(), one.Snapshot()); err == nil {
		t.Error("one benchmark was compared with itself")
	}
}
