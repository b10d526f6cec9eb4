package benchmarks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

// Believable says whether the figures of a benchmark stand, from what its runner
// observed while they were taken. One figure of rejected runs alone is enough for no.
// It takes no part in Ready: what was measured is a result, whatever it is of.
func Believable(b *v1alpha1.PgBenchmark) outcome.Outcome {
	const c = v1alpha1.ConditionBelievable
	var results []v1alpha1.BenchmarkResult
	if b.Status.Run != nil {
		results = b.Status.Run.Results
	}
	var o outcome.Outcome
	checked := func(r v1alpha1.BenchmarkResult) bool { return len(r.Passed)+len(r.Findings) > 0 }
	if !slices.ContainsFunc(results, checked) {
		o = outcome.WaitFor(c, v1alpha1.ReasonNotRun, msgNothingToCheck)
		o.Unknown = true
	} else if reason, rejected := rejections(results); reason != "" {
		o = outcome.InvalidBecause(c, reason, rejected)
	} else {
		o = doubts(results)
	}
	o.Informative = true
	return o
}

// rejections of the results of which no run counts, with the reason of the first.
func rejections(results []v1alpha1.BenchmarkResult) (reason, message string) {
	var why []string
	for _, r := range results {
		if r.Rejected == 0 || int(r.Rejected) < len(r.TPSOfRuns) {
			continue
		}
		for _, f := range r.Findings {
			if f.Verdict != string(validity.Rejected) {
				continue
			}
			if reason == "" {
				reason = f.Reason
			}
			why = append(why, fmt.Sprintf("with %d clients: %s: %s", r.Clients, f.Reason, f.Message))
		}
	}
	return reason, strings.Join(why, "; ")
}

// doubts about figures that stand.
func doubts(results []v1alpha1.BenchmarkResult) outcome.Outcome {
	const c = v1alpha1.ConditionBelievable
	var cautions, lacking []string
	rejected := int32(0)
	for _, r := range results {
		rejected += r.Rejected
		for _, f := range r.Findings {
			switch f.Verdict {
			case string(validity.NotRun):
				lacking = append(lacking, f.Check)
			case string(validity.Caution):
				cautions = append(cautions, f.Reason)
			case string(validity.Rejected):
				cautions = append(cautions, fmt.Sprintf("%s in %d of %d runs", f.Reason, f.Runs, len(r.TPSOfRuns)))
			}
		}
	}
	message := msgNotRejected
	if rejected > 0 {
		message = fmt.Sprintf(msgSomeRejected, rejected)
	}
	reason := v1alpha1.ReasonBelievable
	if lacking = distinct(lacking); len(lacking) > 0 {
		reason = v1alpha1.ReasonPartlyChecked
		message += msgChecksNotRun + strings.Join(lacking, ", ")
	}
	if cautions = distinct(cautions); len(cautions) > 0 {
		reason = v1alpha1.ReasonCautions
		message += "; cautions, whose messages are in status.run.results: " + strings.Join(cautions, ", ")
		if slices.Contains(cautions, validity.ReasonCPULimitReached) {
			message += "; " + validity.LimitSetsRate
		}
	}
	return outcome.DoneWith(c, reason, message)
}

// distinct names, sorted.
func distinct(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
