package comparison

import (
	"fmt"

	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// Level of the tests: the probability that any comparison of one call claims a difference
// that does not exist.
const Level = 1 - statistics.Confidence

// Conclusion about the difference of two variants.
type Conclusion string

const (
	// Better than the baseline: a difference is claimed.
	Better Conclusion = "Better"
	// Worse than the baseline: a difference is claimed.
	Worse Conclusion = "Worse"
	// NoDifference can be claimed. That is not equality: the Interval shows how large
	// an undetected difference can be.
	NoDifference Conclusion = "NoDifference"
	// NotComparable is a pair that cannot be tested; the message says why.
	NotComparable Conclusion = "NotComparable"
)

// Difference of a variant from a baseline of the same tier.
type Difference struct {
	Baseline string     `json:"baseline"`
	Variant  string     `json:"variant"`
	Verdict  Conclusion `json:"verdict"`
	// Comparison of the values; absent when NotComparable.
	Comparison *statistics.Comparison `json:"comparison,omitempty"`
	// P after Holm's correction for all comparisons of the same call.
	P float64 `json:"p"`
	// Message states the conclusion in a sentence.
	Message string `json:"message"`

	lowerIsBetter bool
}

// Against compares every other variant of the group with one of it.
func (g Group) Against(baseline string) ([]Difference, error) {
	from := g.index(baseline)
	if from < 0 {
		return nil, fmt.Errorf("baseline %q has no results with durability %s: variants are compared within a tier only; choose one of %q", baseline, g.tier, g.Variants())
	}
	var pairs [][2]member
	for at, m := range g.members {
		if at != from {
			pairs = append(pairs, [2]member{g.members[from], m})
		}
	}
	return g.compare(pairs), nil
}

// Pairs compares all variants of the group with each other.
func (g Group) Pairs() []Difference {
	var pairs [][2]member
	for i, a := range g.members {
		for _, b := range g.members[i+1:] {
			pairs = append(pairs, [2]member{a, b})
		}
	}
	return g.compare(pairs)
}

// compare pairs, and correct them together.
func (g Group) compare(pairs [][2]member) []Difference {
	differences := make([]Difference, len(pairs))
	var p []float64
	var tested []int
	for i, pair := range pairs {
		d := g.untested(pair[0].Variant, pair[1].Variant)
		c, err := compareTwo(pair[0].Sample, pair[1].Sample)
		if err != nil {
			d.Message = fmt.Sprintf("%s cannot be compared with %s: %v", d.Variant, d.Baseline, err)
		} else {
			d.Comparison = &c
			p, tested = append(p, c.P), append(tested, i)
		}
		differences[i] = d
	}
	g.correct(differences, tested, p)
	return differences
}

// Inverse is the difference of the baseline from the variant.
func (d Difference) Inverse() Difference {
	d.Baseline, d.Variant = d.Variant, d.Baseline
	switch d.Verdict {
	case Better:
		d.Verdict = Worse
	case Worse:
		d.Verdict = Better
	}
	if d.Comparison != nil {
		c := *d.Comparison
		c.Ratio, c.Interval = 1/c.Ratio, statistics.Interval{Lower: 1 / c.Interval.Upper, Upper: 1 / c.Interval.Lower}
		c.T, c.HedgesG = -c.T, -c.HedgesG
		d.Comparison = &c
	}
	return d
}

// correct the p-values of the differences that were tested, and judge these.
func (g Group) correct(differences []Difference, tested []int, p []float64) {
	for i, corrected := range statistics.Holm(p) {
		d := &differences[tested[i]]
		d.P = corrected
		d.Verdict = g.verdict(*d)
		d.Message = g.message(*d, len(p))
	}
}

// compareTwo by the repeats that both have, where those are enough; a repeat that
// failed on one side says nothing about the pair.
func compareTwo(a, b Sample) (statistics.Comparison, error) {
	var before, after []float64
	for _, n := range a.repeats() {
		if v, both := b.Values[n]; both {
			before, after = append(before, a.Values[n]), append(after, v)
		}
	}
	if len(before) >= statistics.FewestToCompare {
		return statistics.ComparePaired(before, after)
	}
	return statistics.CompareIndependent(a.inOrder(), b.inOrder())
}

func (g Group) verdict(d Difference) Conclusion {
	switch {
	case d.P >= Level:
		return NoDifference
	case (d.Comparison.Ratio > 1) == g.figure.LowerIsBetter:
		return Worse
	}
	return Better
}

func (g Group) message(d Difference, comparisons int) string {
	c := d.Comparison
	figures := fmt.Sprintf("95%% interval %+.1f%% to %+.1f%%, p = %.2g (%s, %.3g degrees of freedom", percent(c.Interval.Lower), percent(c.Interval.Upper), d.P, c.Test, c.Degrees)
	if comparisons > 1 {
		figures += fmt.Sprintf(", corrected for %d comparisons", comparisons)
	}
	figures += ")"
	if d.Verdict == NoDifference {
		return fmt.Sprintf("no difference in %s can be claimed between %s and %s: %s", g.figure.Name, d.Variant, d.Baseline, figures)
	}
	return fmt.Sprintf("%s of %s is %+.1f%% relative to %s: %s", g.figure.Name, d.Variant, percent(c.Ratio), d.Baseline, figures)
}

func percent(ratio float64) float64 { return 100 * (ratio - 1) }
