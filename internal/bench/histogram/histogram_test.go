package histogram

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lognormal latencies in microseconds, as those of a database are about.
func lognormal(seed uint64, n int) []int64 {
	r := rand.New(rand.NewPCG(seed, 0))
	values := make([]int64, n)
	for i := range values {
		values[i] = int64(math.Exp(7 + r.NormFloat64()))
	}
	return values
}

func of(t *testing.T, values ...int64) *Histogram {
	t.Helper()
	h := New()
	for _, v := range values {
		if err := h.Record(v); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// Every percentile is the true one or at most RelativeError above it.
func TestPercentileWithinItsError(t *testing.T) {
	values := lognormal(1, 100000)
	// Of all magnitudes too.
	for v := int64(1); v < highest; v = v*3/2 + 1 {
		values = append(values, v)
	}
	h := of(t, values...)
	slices.Sort(values)
	for _, p := range []float64{0.01, 1, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100} {
		rank := max(1, int(math.Round(p/100*float64(len(values)))))
		want := float64(values[rank-1]) / 1000
		if got := h.Percentile(p); got < want-1e-9 || got > want*(1+RelativeError)+1e-9 {
			t.Errorf("p%v: want %v to %v, got %v", p, want, want*(1+RelativeError), got)
		}
	}
}

func TestEdges(t *testing.T) {
	empty := New()
	if empty.Percentile(50) != 0 || empty.Max() != 0 || empty.Mean() != 0 || empty.Curve() != nil {
		t.Error("an empty histogram has figures")
	}
	h := of(t, -5, 0, highest+1, math.MaxInt64)
	if h.Count() != 4 || h.Percentile(50) != 0 {
		t.Errorf("count %d, p50 %v", h.Count(), h.Percentile(50))
	}
	if longest := float64(Longest.Milliseconds()); h.Max() < longest || h.Max() > longest*(1+RelativeError) {
		t.Errorf("max %v, want %v", h.Max(), longest)
	}
	for _, out := range []float64{-1, 101, math.Inf(1), math.Inf(-1)} {
		if got := h.Percentile(out); got != h.Percentile(max(0, min(100, out))) {
			t.Errorf("percentile %v is %v", out, got)
		}
	}
}

func added(t *testing.T, all []*Histogram) *Histogram {
	t.Helper()
	sum := New()
	for _, h := range all {
		if err := sum.Add(h); err != nil {
			t.Fatal(err)
		}
	}
	return sum
}

// In any order, adding parts gives the same as recording all values in one.
func TestAddedPartsEqualTheWhole(t *testing.T) {
	values := lognormal(2, 30000)
	parts := []*Histogram{of(t, values[:10]...), New(), of(t, values[10:9000]...), of(t, values[9000:]...)}
	sum := added(t, parts)
	slices.Reverse(parts)
	back := added(t, parts)
	want := text(t, of(t, values...))
	if text(t, sum) != want || text(t, back) != want {
		t.Error("added histograms differ from one of all")
	}
	if parts[0].Count() != 21000 {
		t.Error("adding changed a part")
	}
}

func TestRefusesTooMany(t *testing.T) {
	h := New()
	if err := h.h.RecordValues(1000, most); err != nil {
		t.Fatal(err)
	}
	if err := h.Record(1); !errors.Is(err, ErrTooMany) {
		t.Error(err)
	}
	if err := h.Add(of(t, 1)); !errors.Is(err, ErrTooMany) {
		t.Error(err)
	}
}

func TestMeanAndCurve(t *testing.T) {
	h := New()
	for v := range int64(1000) {
		if err := h.Record(v); err != nil {
			t.Fatal(err)
		}
	}
	if got := h.Mean(); math.Abs(got-0.4995) > 1e-9 {
		t.Errorf("mean %v", got)
	}
	want := []Point{
		{0, 0}, {10, 0.099}, {25, 0.249}, {50, 0.499}, {75, 0.749}, {90, 0.899}, {95, 0.949}, {99, 0.989},
		{99.5, 0.994}, {99.9, 0.998}, {100, 0.999},
	}
	if diff := cmp.Diff(want, h.Curve()); diff != "" {
		t.Error(diff)
	}
}
