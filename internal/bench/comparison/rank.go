package comparison

import (
	"cmp"
	"slices"

	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// Place of a variant in the ranking of its group.
type Place struct {
	Variant string `json:"variant"`
	// Rank is one more than the number of variants that are better by a claimed
	// difference. All variants without a claimed difference to the best rank first.
	Rank int `json:"rank"`
	// BetterThan are the variants that are worse by a claimed difference.
	BetterThan []string           `json:"betterThan,omitempty"`
	Summary    statistics.Summary `json:"summary"`
}

// Ranking of the group's variants, best rank first, and those of one rank by their
// medians. It also returns the differences of all pairs.
func (g Group) Ranking() ([]Place, []Difference) {
	differences := g.Pairs()
	places := make([]Place, len(g.members))
	for i, m := range g.members {
		places[i] = Place{Variant: m.Variant, Rank: 1, Summary: m.summary}
	}
	for _, d := range differences {
		better, worse := d.Variant, d.Baseline
		switch d.Verdict {
		case Worse:
			better, worse = worse, better
		case Better:
		default:
			continue
		}
		places[g.index(worse)].Rank++
		winner := &places[g.index(better)]
		winner.BetterThan = append(winner.BetterThan, worse)
	}
	slices.SortStableFunc(places, func(a, b Place) int {
		byMedian := cmp.Compare(b.Summary.Median, a.Summary.Median)
		if g.figure.LowerIsBetter {
			byMedian = -byMedian
		}
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), byMedian)
	})
	return places, differences
}
