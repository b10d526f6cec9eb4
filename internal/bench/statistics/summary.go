package statistics

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// Confidence of every interval.
const Confidence = 0.95

// ErrNoValues is the error of statistics of nothing.
var ErrNoValues = errors.New("there are no values")

// ErrNotFinite is the error of a value that is not a number, or infinite.
var ErrNotFinite = errors.New("a value is not a finite number")

// Interval that covers what was measured with the stated Confidence.
type Interval struct {
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

// Summary of the repeats of one figure, in the figure's unit.
type Summary struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	Mean   float64 `json:"mean"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	// Stddev is the standard deviation of the sample (n-1); zero with one value.
	Stddev float64 `json:"stddev"`
	// Variation is Stddev as a share of the mean: 0.05 is 5%. Zero where the mean is zero.
	Variation float64 `json:"variation"`
	// Interval of the mean, by Student's t; absent with one value. If no value is below zero,
	// its lower end is not either. A rate, a latency or a count has no negative mean, so what
	// is cut off covers nothing.
	Interval *Interval `json:"interval,omitempty"`
	// MedianInterval is the narrowest of order statistics that covers the median;
	// absent below six values.
	MedianInterval *Interval `json:"medianInterval,omitempty"`
	// Outliers are the indices of Outliers.
	Outliers []int `json:"outliers,omitempty"`
}

// Summarise repeats, in the order in which they ran.
func Summarise(values []float64) (Summary, error) {
	if err := checkFinite(values); err != nil {
		return Summary{}, err
	}
	sorted := slices.Sorted(slices.Values(values))
	s := Summary{
		N: len(values), Median: median(sorted), Mean: stats.Mean(values),
		Min: sorted[0], Max: sorted[len(sorted)-1],
		Outliers: Outliers(values), MedianInterval: medianInterval(sorted),
	}
	if s.N == 1 {
		return s, nil
	}
	s.Stddev = stats.StdDev(values)
	if s.Mean != 0 {
		s.Variation = s.Stddev / math.Abs(s.Mean)
	}
	half := studentT(float64(s.N-1)) * s.Stddev / math.Sqrt(float64(s.N))
	s.Interval = &Interval{s.Mean - half, s.Mean + half}
	if s.Min >= 0 {
		s.Interval.Lower = math.Max(0, s.Interval.Lower)
	}
	return s, nil
}

func checkFinite(values []float64) error {
	if len(values) == 0 {
		return ErrNoValues
	}
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("value %d: %w", i+1, ErrNotFinite)
		}
	}
	return nil
}

// median of sorted values: of an even number, the middle between the two.
func median(sorted []float64) float64 {
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return sorted[middle-1]/2 + sorted[middle]/2
}

// studentT is how many standard errors an interval of this Confidence reaches.
func studentT(degrees float64) float64 {
	return quantileOfT(degrees, 1-(1-Confidence)/2)
}

func quantileOfT(degrees, p float64) float64 { return stats.InvCDF(stats.TDist{V: degrees})(p) }

// medianInterval is binomial (https://en.wikipedia.org/wiki/Median#Confidence_interval
// and David & Nagaraja, Order Statistics, 7.1): the k-th lowest and k-th highest
// value, k as large as the Confidence allows.
func medianInterval(sorted []float64) *Interval {
	n := len(sorted)
	trials := stats.BinomialDist{N: n, P: 0.5}
	k := 0
	for k < n/2 && 1-2*trials.CDF(float64(k)) >= Confidence {
		k++
	}
	if k == 0 {
		return nil
	}
	return &Interval{sorted[k-1], sorted[n-k]}
}
