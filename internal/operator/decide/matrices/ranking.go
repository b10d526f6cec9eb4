package matrices

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/comparison"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// rankOnce the variants of a matrix that has ended.
func (p *pass) rankOnce(m *v1alpha1.MatrixStatus) error {
	if old := p.b.Status.Matrix; old != nil && len(old.Tiers) > 0 {
		m.Tiers = old.Tiers
		return nil
	}
	var err error
	m.Tiers, err = rank(m.Variants)
	return err
}

// summarise the runs of a variant, where any succeeded.
func summarise(s *v1alpha1.VariantStatus) error {
	result, err := resultOf(*s)
	if err != nil || len(result.Values) == 0 {
		return err
	}
	var values []float64
	for _, repeat := range slices.Sorted(maps.Keys(result.Values)) {
		values = append(values, result.Values[repeat])
	}
	summary, err := statistics.Summarise(values)
	if err != nil {
		return fmt.Errorf("variant %q: %w", s.Name, err)
	}
	s.MedianTPS, s.MeanTPS = decimals(summary.Median), decimals(summary.Mean)
	if summary.Interval != nil {
		s.LowerTPS, s.UpperTPS = decimals(summary.Interval.Lower), decimals(summary.Interval.Upper)
	}
	return nil
}

// resultOf a variant for comparisons: the TPS of the runs that succeeded and that no
// check rejects.
func resultOf(v v1alpha1.VariantStatus) (comparison.Sample, error) {
	r := comparison.Sample{Variant: v.Name, Tier: v.Durability, Values: map[int]float64{}}
	for _, run := range v.Runs {
		if !Counts(run) {
			continue
		}
		tps, err := strconv.ParseFloat(run.TPS, 64)
		if err != nil {
			return r, fmt.Errorf("repeat %d of variant %q: %w", run.Repeat, v.Name, err)
		}
		r.Values[int(run.Repeat)] = tps
	}
	return r, nil
}

// resultsOf the variants that have any.
func resultsOf(variants []v1alpha1.VariantStatus) ([]comparison.Sample, error) {
	var all []comparison.Sample
	for _, v := range variants {
		r, err := resultOf(v)
		if err != nil {
			return nil, err
		}
		if len(r.Values) > 0 {
			all = append(all, r)
		}
	}
	return all, nil
}

// rank the variants within each tier.
func rank(variants []v1alpha1.VariantStatus) ([]v1alpha1.TierRanking, error) {
	results, err := resultsOf(variants)
	if err != nil {
		return nil, err
	}
	groups, err := comparison.ByTier(comparison.TPS, results)
	if err != nil {
		return nil, err
	}
	var tiers []v1alpha1.TierRanking
	for _, g := range groups {
		places, _ := g.Ranking()
		t := v1alpha1.TierRanking{Durability: g.Tier(), Verdict: leaders(places)}
		for _, place := range places {
			t.Ranking = append(t.Ranking, v1alpha1.VariantRank{
				Variant: place.Variant, Rank: number(place.Rank), MedianTPS: decimals(place.Summary.Median), BetterThan: number(len(place.BetterThan)),
			})
		}
		tiers = append(tiers, t)
	}
	return tiers, nil
}

// verdict on the places of a tier.
func leaders(places []comparison.Place) string {
	var first []string
	for _, place := range places {
		if place.Rank == 1 {
			first = append(first, place.Variant)
		}
	}
	switch {
	case len(places) == 1:
		return "one variant alone: there is nothing to compare it with"
	case len(first) == 1:
		return "first by a claimed difference: " + first[0]
	}
	return fmt.Sprintf("no difference can be claimed among the first %d: %s", len(first), strings.Join(first, "; "))
}

// headline of variants of one tier: that tier, and the highest median.
func headline(variants []v1alpha1.VariantStatus) (tier v1alpha1.DurabilityTier, best string) {
	highest := -1.0
	for i, v := range variants {
		if i > 0 && v.Durability != tier {
			return "", ""
		}
		tier = v.Durability
		if tps, err := strconv.ParseFloat(v.MedianTPS, 64); err == nil && tps > highest {
			best, highest = v.MedianTPS, tps
		}
	}
	return tier, best
}

func decimals(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
