package statistics

import (
	"errors"
	"fmt"
	"math"

	"github.com/aclements/go-moremath/stats"
)

// Test that a Comparison was made by.
type Test string

const (
	// PairedT is Student's t test of the differences of logarithms, repeat by
	// repeat: for blocks, in which each repeat ran both variants.
	PairedT Test = "PairedT"
	// WelchT is Welch's t test of logarithms, which allows unequal variances: for
	// samples that were not run side by side.
	WelchT Test = "WelchT"
)

// FewestToCompare values of each sample. With two, and so one degree of freedom, an interval at 95%
// reaches 12.7 standard errors to each side and says nothing.
const FewestToCompare = 3

// Errors of a comparison that cannot be made.
var (
	ErrTooFew      = fmt.Errorf("a comparison needs at least %d repeats of each", FewestToCompare)
	ErrNotPositive = errors.New("a ratio needs values above zero")
	ErrNoSpread    = errors.New("the values differ but do not vary at all, so no test can show whether that is chance")
	ErrNotPaired   = errors.New("pairs need as many values on both sides")
)

// Comparison of two samples as the ratio of the other to the baseline.
type Comparison struct {
	Test Test `json:"test"`
	// Ratio of the geometric means, 1.05 is 5% more, with its Interval.
	Ratio    float64  `json:"ratio"`
	Interval Interval `json:"interval"`
	// T statistic with its Degrees of freedom, zero where nothing varies. P is two-sided: that
	// of a ratio at least as far from 1 where the true one is 1.
	T       float64 `json:"t"`
	Degrees float64 `json:"degrees"`
	P       float64 `json:"p"`
	// HedgesG is the difference of the logarithms in their pooled standard deviations,
	// corrected for few values (Hedges 1981). It is how far the samples are apart relative to
	// their spread; the ratio is how far in fact.
	HedgesG float64 `json:"hedgesG"`
	// MannWhitneyP is the two-sided P of the Mann-Whitney U test, exact up to 50
	// values (25 with ties), without regard to pairs.
	MannWhitneyP float64 `json:"mannWhitneyP"`
}

// ComparePaired compares samples of which the i-th values ran in the same block.
func ComparePaired(baseline, other []float64) (Comparison, error) {
	if len(baseline) != len(other) {
		return Comparison{}, ErrNotPaired
	}
	return compare(PairedT, baseline, other)
}

// CompareIndependent compares samples that have nothing in common.
func CompareIndependent(baseline, other []float64) (Comparison, error) {
	return compare(WelchT, baseline, other)
}

func compare(test Test, baseline, other []float64) (Comparison, error) {
	a, err := logarithms(baseline)
	if err != nil {
		return Comparison{}, fmt.Errorf("baseline: %w", err)
	}
	b, err := logarithms(other)
	if err != nil {
		return Comparison{}, err
	}
	difference := stats.Mean(b) - stats.Mean(a)
	c := Comparison{Test: test, Ratio: math.Exp(difference), HedgesG: hedgesG(a, b, difference), MannWhitneyP: mannWhitney(baseline, other)}
	var standardError float64
	standardError, c.Degrees = errorOf(test, a, b)
	if standardError == 0 {
		return withoutSpread(c)
	}
	c.T = difference / standardError
	c.P = 2 * stats.TDist{V: c.Degrees}.CDF(-math.Abs(c.T))
	half := studentT(c.Degrees) * standardError
	c.Interval = Interval{math.Exp(difference - half), math.Exp(difference + half)}
	return c, nil
}

// IntervalAt is the Interval with another confidence, as 0.99.
func (c Comparison) IntervalAt(confidence float64) Interval {
	if c.Degrees == 0 {
		// Nothing varies.
		return c.Interval
	}
	half := math.Log(c.Interval.Upper/c.Interval.Lower) / 2 * quantileOfT(c.Degrees, 1-(1-confidence)/2) / studentT(c.Degrees)
	return Interval{c.Ratio * math.Exp(-half), c.Ratio * math.Exp(half)}
}

// errorOf is the standard error of the difference of the means, and its degrees of
// freedom: of pairs, or by Welch and Satterthwaite (Welch 1947).
func errorOf(test Test, a, b []float64) (standardError, degrees float64) {
	if test == PairedT {
		differences := make([]float64, len(a))
		for i := range a {
			differences[i] = b[i] - a[i]
		}
		n := float64(len(differences))
		return stats.StdDev(differences) / math.Sqrt(n), n - 1
	}
	n, m := float64(len(a)), float64(len(b))
	v, w := stats.Variance(a)/n, stats.Variance(b)/m
	return math.Sqrt(v + w), (v + w) * (v + w) / (v*v/(n-1) + w*w/(m-1))
}

// withoutSpread are samples that do not vary at all, as counts of what a
// transaction does may: they are equal, or nothing can be said.
func withoutSpread(c Comparison) (Comparison, error) {
	if c.Ratio != 1 {
		return Comparison{}, ErrNoSpread
	}
	c.Degrees, c.P, c.Interval = 0, 1, Interval{1, 1}
	return c, nil
}

// hedgesG with the exact correction, J(m) = gamma(m/2) / (sqrt(m/2) gamma((m-1)/2)).
func hedgesG(a, b []float64, difference float64) float64 {
	n, m := float64(len(a)), float64(len(b))
	degrees := n + m - 2
	pooled := math.Sqrt(((n-1)*stats.Variance(a) + (m-1)*stats.Variance(b)) / degrees)
	if pooled == 0 {
		return 0
	}
	above, _ := math.Lgamma(degrees / 2)
	below, _ := math.Lgamma((degrees - 1) / 2)
	return difference / pooled * math.Exp(above-below) / math.Sqrt(degrees/2)
}

func mannWhitney(a, b []float64) float64 {
	result, err := stats.MannWhitneyUTest(a, b, stats.LocationDiffers)
	if err != nil {
		// Of samples that are not empty it refuses only those whose values are all
		// the same.
		return 1
	}
	// Both tails together can count the middle of a distribution with ties twice.
	return min(1, result.P)
}

func logarithms(values []float64) ([]float64, error) {
	if err := checkFinite(values); err != nil {
		return nil, err
	}
	if len(values) < FewestToCompare {
		return nil, ErrTooFew
	}
	logs := make([]float64, len(values))
	for i, v := range values {
		if v <= 0 {
			return nil, ErrNotPositive
		}
		logs[i] = math.Log(v)
	}
	return logs, nil
}
