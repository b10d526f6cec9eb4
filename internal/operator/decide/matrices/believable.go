package matrices

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

// findings of a run that has ended: the reason of the first check that rejects it,
// where no repeat counts, and those that caution. The check of repeats is skipped,
// because one run has none to compare.
func findings(result v1alpha1.BenchmarkResult) (rejected string, cautions []string) {
	for _, f := range result.Findings {
		switch {
		case f.Check == validity.CheckRepeats:
		case f.Verdict == string(validity.Rejected) && rejected == "":
			rejected = f.Reason
		case f.Verdict == string(validity.Rejected), f.Verdict == string(validity.Caution):
			cautions = append(cautions, f.Reason)
		}
	}
	return rejected, cautions
}

// Counts reports whether the figure of a run that has ended is one of its variant's: the
// run succeeded, and no check rejects it.
func Counts(run v1alpha1.MatrixRun) bool {
	return run.Outcome == string(matrix.Succeeded) && run.Rejected == ""
}

// Comparable returns how many variants of a matrix have enough counted runs for a
// comparison, and whether all have.
func Comparable(m *v1alpha1.MatrixStatus) (variants int, all bool) {
	if m == nil {
		return 0, false
	}
	for _, v := range m.Variants {
		counted := 0
		for _, run := range v.Runs {
			if Counts(run) {
				counted++
			}
		}
		if counted >= statistics.FewestToCompare {
			variants++
		}
	}
	return variants, variants > 0 && variants == len(m.Variants)
}

// standing of a variant: how many of the runs that succeeded count, why the last that
// does not is rejected, and what cautions against any.
type standing struct {
	counted, rejected int
	why               string
	cautions          []string
}

func (p *pass) standing(variant string) standing {
	var s standing
	for repeat := 1; repeat <= int(p.b.Spec.Matrix.Repeats); repeat++ {
		run, ended := p.ended[matrix.ID{Variant: variant, Repeat: repeat}]
		if !ended || run.Outcome != string(matrix.Succeeded) {
			continue
		}
		if Counts(run) {
			s.counted++
		} else {
			s.rejected, s.why = s.rejected+1, run.Rejected
		}
		s.cautions = append(s.cautions, run.Findings...)
	}
	return s
}

// believable says whether the figures of the variants stand. A variant of which only
// rejected runs succeeded has none.
func (p *pass) believable() outcome.Outcome {
	const c = v1alpha1.ConditionBelievable
	var without, cautions []string
	reason, counted, rejected := "", 0, 0
	for _, v := range p.Variants {
		s := p.standing(v.Name)
		counted, rejected, cautions = counted+s.counted, rejected+s.rejected, append(cautions, s.cautions...)
		if s.counted == 0 && s.rejected > 0 {
			without = append(without, v.Name+": "+s.why)
			reason = cmp.Or(reason, s.why)
		}
	}
	o := outcome.DoneWith(c, v1alpha1.ReasonPartlyChecked, msgNotRejected)
	switch {
	case counted+rejected == 0:
		o = outcome.WaitFor(c, v1alpha1.ReasonNotRun, msgNothingToCheck)
		o.Unknown = true
	case len(without) > 0:
		o = outcome.InvalidBecause(c, reason, fmt.Sprintf(msgAllRejected, len(without), len(p.Variants), strings.Join(without, "; ")))
	case rejected > 0 || len(cautions) > 0:
		message := fmt.Sprintf(msgSomeRejected, rejected, counted+rejected, distinct(cautions))
		if slices.Contains(cautions, validity.ReasonCPULimitReached) {
			message += "; " + validity.LimitSetsRate
		}
		o = outcome.DoneWith(c, v1alpha1.ReasonCautions, message)
	}
	o.Informative = true
	return o
}

func distinct(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	names = slices.Clone(names)
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
