package comparison

import (
	"fmt"
	"slices"

	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// Between compares the variants of a benchmark with those of the same name of an older one,
// which the messages name as baseline. Their repeats were not run side by side, so they are not
// paired. A variant without a counterpart of the same tier is NotComparable, also one that only
// the older benchmark has. All comparisons are corrected together.
func Between(figure Figure, baseline string, before, now []Sample) []Difference {
	g := Group{figure: figure}
	var differences []Difference
	var p []float64
	var tested []int
	for _, r := range now {
		d := g.untested(baseline, r.Variant)
		c, err := counterpart(before, r)
		if err != nil {
			d.Message = fmt.Sprintf("%s cannot be compared with %s: %v", r.Variant, baseline, err)
		} else {
			d.Comparison = &c
			p, tested = append(p, c.P), append(tested, len(differences))
		}
		differences = append(differences, d)
	}
	for _, old := range before {
		if !slices.ContainsFunc(now, func(r Sample) bool { return r.Variant == old.Variant }) {
			d := g.untested(baseline, old.Variant)
			d.Message = fmt.Sprintf("%s of %s was not measured", old.Variant, baseline)
			differences = append(differences, d)
		}
	}
	g.correct(differences, tested, p)
	return differences
}

func (g Group) untested(baseline, variant string) Difference {
	return Difference{Baseline: baseline, Variant: variant, Verdict: NotComparable, P: 1, lowerIsBetter: g.figure.LowerIsBetter}
}

// counterpart of a result, compared with it.
func counterpart(before []Sample, r Sample) (statistics.Comparison, error) {
	at := slices.IndexFunc(before, func(old Sample) bool { return old.Variant == r.Variant })
	if at < 0 {
		return statistics.Comparison{}, fmt.Errorf("the baseline has no such variant")
	}
	if old := before[at]; old.Tier != r.Tier {
		return statistics.Comparison{}, fmt.Errorf("the baseline has durability %s, not %s, and tiers are not compared", old.Tier, r.Tier)
	}
	return statistics.CompareIndependent(before[at].inOrder(), r.inOrder())
}
