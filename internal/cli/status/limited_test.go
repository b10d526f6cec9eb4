package status

import (
	"slices"
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// A rate that a declared CPU limit set is not shown as one of the storage.
func TestRateOfADeclaredLimitIsNamed(t *testing.T) {
	single := func(reason string) v1alpha1.PgBenchmarkStatus {
		return v1alpha1.PgBenchmarkStatus{BestTPS: "812.4", Run: &v1alpha1.BenchmarkRun{Results: []v1alpha1.BenchmarkResult{
			{Clients: 1}, {Clients: 4, Findings: []v1alpha1.BenchmarkFinding{{Check: "Throttling", Verdict: "Caution", Reason: reason}}},
		}}}
	}
	matrix := func(reason string) v1alpha1.PgBenchmarkStatus {
		return v1alpha1.PgBenchmarkStatus{BestTPS: "812.4", Matrix: &v1alpha1.MatrixStatus{Variants: []v1alpha1.VariantStatus{
			{Name: "a", Runs: []v1alpha1.MatrixRun{{Repeat: 1}, {Repeat: 2, Findings: []string{reason}}}},
		}}}
	}
	for name, tc := range map[string]struct {
		status v1alpha1.PgBenchmarkStatus
		want   bool
	}{
		"at the limit":      {single("CPULimitReached"), true},
		"another caution":   {single("DatasetInMemory"), false},
		"matrix":            {matrix("CPULimitReached"), true},
		"matrix, no limit":  {matrix("DatasetInMemory"), false},
		"without a finding": {v1alpha1.PgBenchmarkStatus{BestTPS: "1"}, false},
	} {
		got := Builder{}.benchmark(&v1alpha1.PgBenchmark{Status: tc.status}).Details
		if slices.Contains(got, "set by the declared CPU limit") != tc.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
