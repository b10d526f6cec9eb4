package statistics

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// reference are values that other programs computed: testdata/README.md.
type reference struct {
	Summaries []struct {
		Name                     string
		Values                   []float64
		Median, Mean, Stddev     float64
		Lower, Upper             float64
		MedianLower, MedianUpper *float64
	}
	Comparisons []struct {
		Name            string
		Baseline, Other []float64
		Ratio           float64
		Paired, Welch   struct{ T, Df, P, Lower, Upper float64 }
		HedgesG         float64
		MannWhitneyP    float64
	}
	Holm     []struct{ P, Adjusted []float64 }
	Outliers []struct {
		Name     string
		Values   []float64
		Outliers []int
	}
	ChangePoints []struct {
		Name    string
		Values  []float64
		Penalty float64
		Changes []int
	}
}

func readReference(t *testing.T) reference {
	t.Helper()
	raw, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var r reference
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Summaries) == 0 || len(r.Comparisons) == 0 || len(r.Holm) == 0 || len(r.Outliers) == 0 || len(r.ChangePoints) == 0 {
		t.Fatal("a part of the reference is empty")
	}
	return r
}

// near allows for what two ways of computing the same differ by.
var near = cmpopts.EquateApprox(1e-9, 1e-12)

func TestSummariseAgreesWithSciPy(t *testing.T) {
	for _, tc := range readReference(t).Summaries {
		got, err := Summarise(tc.Values)
		if err != nil {
			t.Fatal(err)
		}
		var medians *Interval
		if tc.MedianLower != nil {
			medians = &Interval{*tc.MedianLower, *tc.MedianUpper}
		}
		want := Summary{
			N: len(tc.Values), Median: tc.Median, Mean: tc.Mean, Stddev: tc.Stddev, Variation: tc.Stddev / tc.Mean,
			Interval: &Interval{tc.Lower, tc.Upper}, MedianInterval: medians,
		}
		if diff := cmp.Diff(want, got, near, cmpopts.IgnoreFields(Summary{}, "Min", "Max", "Outliers")); diff != "" {
			t.Errorf("%s: %s", tc.Name, diff)
		}
	}
}

func TestCompareAgreesWithSciPy(t *testing.T) {
	for _, tc := range readReference(t).Comparisons {
		want := func(test Test, by struct{ T, Df, P, Lower, Upper float64 }) Comparison {
			return Comparison{
				Test: test, Ratio: tc.Ratio, Interval: Interval{by.Lower, by.Upper}, T: by.T, Degrees: by.Df, P: by.P,
				HedgesG: tc.HedgesG, MannWhitneyP: tc.MannWhitneyP,
			}
		}
		paired, err := ComparePaired(tc.Baseline, tc.Other)
		if diff := cmp.Diff(want(PairedT, tc.Paired), paired, near); err != nil || diff != "" {
			t.Errorf("%s: %v %s", tc.Name, err, diff)
		}
		welch, err := CompareIndependent(tc.Baseline, tc.Other)
		if diff := cmp.Diff(want(WelchT, tc.Welch), welch, near); err != nil || diff != "" {
			t.Errorf("%s: %v %s", tc.Name, err, diff)
		}
	}
}

func TestHolmAgreesWithStatsmodels(t *testing.T) {
	for _, tc := range readReference(t).Holm {
		if diff := cmp.Diff(tc.Adjusted, Holm(tc.P), near); diff != "" {
			t.Errorf("%v: %s", tc.P, diff)
		}
	}
}

func TestOutliersAgreeWithRosner(t *testing.T) {
	for _, tc := range readReference(t).Outliers {
		if diff := cmp.Diff(tc.Outliers, Outliers(tc.Values), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", tc.Name, diff)
		}
	}
}

// Two exact searches for the same minimum find the same cost, and, unless two
// places cost the same, the same places.
func TestPeltAgreesWithRuptures(t *testing.T) {
	for _, tc := range readReference(t).ChangePoints {
		got := pelt(tc.Values, tc.Penalty, shortestSegment)
		if diff := cmp.Diff(tc.Changes, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", tc.Name, diff)
		}
		if ours, theirs := total(tc.Values, tc.Penalty, got), total(tc.Values, tc.Penalty, tc.Changes); ours > theirs*(1+1e-9) {
			t.Errorf("%s: cost %v, ruptures found %v", tc.Name, ours, theirs)
		}
	}
}

// total cost of a segmentation.
func total(values []float64, penalty float64, places []int) float64 {
	cost, from, sum := squaredErrors(values), 0, 0.0
	for _, to := range append(append([]int(nil), places...), len(values)) {
		sum += cost(from, to)
		from = to
	}
	return sum + penalty*float64(len(places))
}

// pelt finds what trying everything finds.
func TestPeltIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 0))
	for range 1000 {
		values := make([]float64, 4+r.IntN(9))
		for i := range values {
			values[i] = float64(r.IntN(8)) * float64(1+r.IntN(3))
		}
		least, penalty := 1+r.IntN(4), float64(1+r.IntN(60))
		if len(values) < least {
			continue
		}
		places := pelt(values, penalty, least)
		if got, best := total(values, penalty, places), exhaustive(values, penalty, 0, least); math.Abs(got-best) > 1e-6 {
			t.Fatalf("%v, penalty %v, segments of %d: %v costs %v, best is %v", values, penalty, least, places, got, best)
		}
		for i, at := range append(places, len(values)) {
			if from := append([]int{0}, places...)[i]; at-from < least {
				t.Fatalf("%v: a segment from %d to %d is shorter than %d", values, from, at, least)
			}
		}
	}
}

// The same on any short series.
func FuzzPelt(f *testing.F) {
	f.Add([]byte{1, 1, 1, 5, 5, 5, 1, 1}, uint8(3))
	f.Fuzz(func(t *testing.T, raw []byte, penalty uint8) {
		if len(raw) < 2 || len(raw) > 12 {
			return
		}
		values := make([]float64, len(raw))
		for i, b := range raw {
			values[i] = float64(b)
		}
		got := total(values, float64(penalty)+1, pelt(values, float64(penalty)+1, 2))
		if best := exhaustive(values, float64(penalty)+1, 0, 2); got > best+1e-6 {
			t.Fatalf("%v: cost %v, best is %v", values, got, best)
		}
	})
}

func exhaustive(values []float64, penalty float64, from, least int) float64 {
	cost := squaredErrors(values)
	best := cost(from, len(values))
	for to := from + least; to <= len(values)-least; to++ {
		best = math.Min(best, cost(from, to)+penalty+exhaustive(values, penalty, to, least))
	}
	return best
}
