package report

import (
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// checkStatus is what a status alone says of a run.
const checkStatus = "Status"

// judged is what the runner found, which had the facts. How repeats agree is nothing
// to be said of one.
func judged(result v1alpha1.BenchmarkResult) []validity.Finding {
	var out []validity.Finding
	for _, check := range result.Passed {
		if check != validity.CheckRepeats {
			out = append(out, validity.Finding{Check: check, Verdict: validity.Passed, Reason: validity.ReasonPassed, Message: "by the status"})
		}
	}
	for _, f := range result.Findings {
		if verdict := validity.Verdict(f.Verdict); f.Check != validity.CheckRepeats && verdict != validity.NotRun && !someOnly(result, verdict) {
			out = append(out, validity.Finding{Check: f.Check, Verdict: verdict, Reason: f.Reason, Message: f.Message})
		}
	}
	return out
}

// someOnly says that a rejection is of some repeats and not of all.
func someOnly(result v1alpha1.BenchmarkResult, verdict validity.Verdict) bool {
	return verdict == validity.Rejected && int(result.Rejected) < len(result.TPSOfRuns)
}

// unknownWhich repeats are rejected: none of them can count.
func unknownWhich(n, all int) validity.Finding {
	return validity.Finding{
		Check: checkStatus, Verdict: validity.Rejected, Reason: reasonRecordMissing,
		Message: fmt.Sprintf("%d of %d repeats are rejected, and without the record it is not known which; bench result has the median of the others", n, all),
	}
}

// known findings of a run of a matrix: those of its PgBenchmark, or, where that is
// gone, the reasons in the status of the matrix.
func known(ended v1alpha1.MatrixRun, child *v1alpha1.PgBenchmark) []validity.Finding {
	if child != nil && child.Status.Run != nil && len(child.Status.Run.Results) == 1 {
		return judged(child.Status.Run.Results[0])
	}
	reason := func(verdict validity.Verdict, name string) validity.Finding {
		return validity.Finding{Check: checkStatus, Verdict: verdict, Reason: name, Message: "by the status of the matrix; what was seen was in the PgBenchmark of the run"}
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
