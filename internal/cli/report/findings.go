package report

import (
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// checkStatus is the check of findings that come from a status.
const checkStatus = "Status"

// findingsOf returns the findings of the runner in a result. It omits the check of
// repeats, which is not about a single run.
func findingsOf(result v1alpha1.BenchmarkResult) []validity.Finding {
	var out []validity.Finding
	for _, check := range result.Passed {
		if check != validity.CheckRepeats {
			out = append(out, validity.Finding{Check: check, Verdict: validity.Passed, Reason: validity.ReasonPassed, Message: "according to the status"})
		}
	}
	for _, f := range result.Findings {
		if verdict := validity.Verdict(f.Verdict); f.Check != validity.CheckRepeats && verdict != validity.NotRun && !partlyRejected(result, verdict) {
			out = append(out, validity.Finding{Check: f.Check, Verdict: verdict, Reason: f.Reason, Message: f.Message})
		}
	}
	return out
}

// partlyRejected reports whether a rejection concerns some repeats and not all.
func partlyRejected(result v1alpha1.BenchmarkResult, verdict validity.Verdict) bool {
	return verdict == validity.Rejected && int(result.Rejected) < len(result.TPSOfRuns)
}

// rejectedUnknown returns a rejection of a repeat where only the missing record says which
// repeats are rejected.
func rejectedUnknown(n, all int) validity.Finding {
	return validity.Finding{
		Check: checkStatus, Verdict: validity.Rejected, Reason: reasonRecordMissing,
		Message: fmt.Sprintf("%d of %d repeats were rejected, and only the missing record says which; kubectl pgstorage bench result shows the median of the others", n, all),
	}
}

// findingsOfMatrixRun returns the findings of the PgBenchmark of a run, or the reasons in
// the status of the matrix if that PgBenchmark is gone.
func findingsOfMatrixRun(ended v1alpha1.MatrixRun, child *v1alpha1.PgBenchmark) []validity.Finding {
	if child != nil && child.Status.Run != nil && len(child.Status.Run.Results) == 1 {
		return findingsOf(child.Status.Run.Results[0])
	}
	reason := func(verdict validity.Verdict, name string) validity.Finding {
		return validity.Finding{Check: checkStatus, Verdict: verdict, Reason: name, Message: "according to the status of the matrix; the details were in the PgBenchmark of the run"}
	}
	var out []validity.Finding
	if ended.Rejected != "" {
		out = append(out, reason(validity.Rejected, ended.Rejected))
	}
	for _, name := range ended.Findings {
		out = append(out, reason(validity.Caution, name))
	}
	return out
}
