package runner

import (
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
)

// mostOfFinding is how much of a finding's message a status holds, in bytes.
const mostOfFinding = 400

// found by the checks of the repeats of one client count: what passed in all, and the
// worst of each other check.
func found(runs []MeasuredRun) (passed []string, findings []v1alpha1.BenchmarkFinding) {
	add := func(f v1alpha1.BenchmarkFinding) {
		if f.Verdict == string(validity.Passed) {
			passed = append(passed, f.Check)
			return
		}
		f.Message = excerpt.Truncate(f.Message, mostOfFinding)
		findings = append(findings, f)
	}
	for i := range runs[0].Findings {
		add(worst(runs, i))
	}
	a := agreement(runs)
	add(v1alpha1.BenchmarkFinding{Check: a.Check, Verdict: string(a.Verdict), Reason: a.Reason, Message: a.Message})
	return passed, findings
}

// worst of the repeats by one check: the first such, and how many there are.
func worst(runs []MeasuredRun, check int) v1alpha1.BenchmarkFinding {
	var f validity.Finding
	repeat, n := 0, int32(0)
	for _, r := range runs {
		one := r.Findings[check]
		switch {
		case n == 0 || validity.Worse(one.Verdict, f.Verdict):
			f, repeat, n = one, r.Repeat, 1
		case one.Verdict == f.Verdict:
			n++
		}
	}
	if len(runs) > 1 && f.Verdict != validity.NotRun {
		f.Message = fmt.Sprintf("repeat %d: %s", repeat, f.Message)
	}
	return v1alpha1.BenchmarkFinding{Check: f.Check, Verdict: string(f.Verdict), Reason: f.Reason, Message: f.Message, Runs: n}
}

// agreement of the repeats that count.
func agreement(runs []MeasuredRun) validity.Finding {
	var values []float64
	var numbers []int
	for _, r := range runs {
		if !r.Rejected {
			values, numbers = append(values, r.Result.TPS), append(numbers, r.Repeat)
		}
	}
	s, err := statistics.Summarise(values)
	if err != nil {
		// Of no value there is no summary.
		s = statistics.Summary{}
	}
	return validity.Repeats(s, numbers)
}
