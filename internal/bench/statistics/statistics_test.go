package statistics

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSummariseFew(t *testing.T) {
	got, err := Summarise([]float64{7})
	if diff := cmp.Diff(Summary{N: 1, Median: 7, Mean: 7, Min: 7, Max: 7}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	got, err = Summarise([]float64{3, 1, 2, 5, 4})
	if err != nil || got.MedianInterval != nil || got.Min != 1 || got.Max != 5 {
		t.Errorf("%v: five values have no interval of the median: %+v", err, got)
	}
	if _, err := Summarise(nil); !errors.Is(err, ErrNoValues) {
		t.Error(err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := Summarise([]float64{1, v}); !errors.Is(err, ErrNotFinite) {
			t.Error(err)
		}
	}
	if got, err := Summarise([]float64{0, 0, 0}); err != nil || got.Variation != 0 || got.Outliers != nil {
		t.Errorf("%v %+v", err, got)
	}
}

func TestCompareRefuses(t *testing.T) {
	three := []float64{1, 2, 3}
	for want, pair := range map[error][2][]float64{
		ErrNoValues:    {nil, nil},
		ErrTooFew:      {{1, 2}, {3, 4}},
		ErrNotPaired:   {three, {1, 2, 3, 4}},
		ErrNotPositive: {three, {1, 0, 2}},
		ErrNotFinite:   {{1, math.NaN(), 2}, three},
		ErrNoSpread:    {{1, 1, 1}, {2, 2, 2}},
	} {
		if _, err := ComparePaired(pair[0], pair[1]); !errors.Is(err, want) {
			t.Errorf("want %v, got %v", want, err)
		}
	}
	got, err := CompareIndependent([]float64{2, 2, 2}, []float64{2, 2, 2})
	if err != nil || got.P != 1 || got.Interval != (Interval{1, 1}) || got.MannWhitneyP != 1 {
		t.Errorf("%v %+v", err, got)
	}
}

// Swapping the sides turns the ratio over and leaves the P-values.
func TestCompareIsSymmetric(t *testing.T) {
	a, b := []float64{100, 104, 99, 101, 97}, []float64{110, 108, 113, 107, 111}
	there, err := ComparePaired(a, b)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ComparePaired(b, a)
	if err != nil {
		t.Fatal(err)
	}
	want := Comparison{
		Test: PairedT, Ratio: 1 / there.Ratio, Interval: Interval{1 / there.Interval.Upper, 1 / there.Interval.Lower},
		T: -there.T, Degrees: 4, P: there.P, HedgesG: -there.HedgesG, MannWhitneyP: there.MannWhitneyP,
	}
	if diff := cmp.Diff(want, back, near); diff != "" {
		t.Error(diff)
	}
}

// A drift of the machine that is ten times the difference hides it from Welch's
// test and not from pairs.
func TestPairsSeeThroughDrift(t *testing.T) {
	a, b := make([]float64, 5), make([]float64, 5)
	for i, noise := range []float64{1, -2, 0, 2, -1} {
		drift := 1000 - 100*float64(i)
		a[i], b[i] = drift, drift*1.05+noise
	}
	paired, err := ComparePaired(a, b)
	if err != nil || paired.P > 0.001 {
		t.Errorf("%v: paired %+v", err, paired)
	}
	independent, err := CompareIndependent(a, b)
	if err != nil || independent.P < 0.2 {
		t.Errorf("%v: independent %+v", err, independent)
	}
}

// Where nothing differs, one comparison in twenty claims a difference, and one
// sample of five in twenty has an outlier.
func TestFalseClaims(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 0))
	sample := func() []float64 {
		values := make([]float64, 5)
		for i := range values {
			values[i] = 1000 * math.Exp(0.03*r.NormFloat64())
		}
		return values
	}
	const tries = 2000
	claimed, named := 0, 0
	for range tries {
		a, b := sample(), sample()
		c, err := ComparePaired(a, b)
		if err != nil {
			t.Fatal(err)
		}
		if c.P < 0.05 {
			claimed++
		}
		if len(Outliers(a)) > 0 {
			named++
		}
	}
	for what, n := range map[string]int{"differences": claimed, "outliers": named} {
		if share := float64(n) / tries; share < 0.03 || share > 0.07 {
			t.Errorf("%.3f of the samples have %s where there are none; want 0.05", share, what)
		}
	}
}

func TestHolmOfNothing(t *testing.T) {
	if got := Holm(nil); len(got) != 0 {
		t.Error(got)
	}
}

// A t interval of few, spread latencies reaches below zero, where no latency can be.
func TestIntervalOfPositiveValuesIsNotNegative(t *testing.T) {
	for _, tc := range []struct {
		values []float64
		zero   bool
	}{{[]float64{300, 90, 70, 150}, true}, {[]float64{10, 11, 12}, false}, {[]float64{-300, 90, 70, 150}, false}} {
		s, err := Summarise(tc.values)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Interval.Lower == 0; got != tc.zero {
			t.Errorf("%v: lower end %v, want zero %v", tc.values, s.Interval.Lower, tc.zero)
		}
	}
}
