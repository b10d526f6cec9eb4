package statistics

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// simulated seconds of a run: levels with noise, of which each value keeps a share
// of the one before.
func simulated(seed uint64, stddev, kept float64, levels ...[2]float64) []float64 {
	r := rand.New(rand.NewPCG(seed, 0))
	var series []float64
	noise := 0.0
	for _, level := range levels {
		for range int(level[0]) {
			noise = kept*noise + stddev*r.NormFloat64()
			series = append(series, level[1]+noise)
		}
	}
	return series
}

func TestSegmentFindsLevels(t *testing.T) {
	for name, tc := range map[string]struct {
		series []float64
		want   []int
	}{
		"steady":               {simulated(1, 20, 0, [2]float64{60, 1000}), nil},
		"half the speed":       {simulated(2, 20, 0, [2]float64{30, 1000}, [2]float64{30, 500}), []int{30}},
		"warm-up":              {simulated(3, 20, 0, [2]float64{10, 300}, [2]float64{50, 1000}), []int{10}},
		"a checkpoint":         {simulated(4, 20, 0, [2]float64{40, 1000}, [2]float64{15, 600}, [2]float64{45, 1000}), []int{40, 55}},
		"too small to be told": {simulated(5, 2, 0, [2]float64{60, 1000}, [2]float64{60, 970}), nil},
		"exactly level":        {simulated(6, 0, 0, [2]float64{20, 100}), nil},
		"exactly two levels":   {simulated(7, 0, 0, [2]float64{20, 100}, [2]float64{20, 50}), []int{20}},
		"stopped":              {simulated(8, 0, 0, [2]float64{20, 100}, [2]float64{20, 0}), []int{20}},
		"nothing at all":       {make([]float64, 60), nil},
		"too short":            {[]float64{1, 1, 1, 1, 9, 9, 9, 9}, nil},
		"empty":                {nil, nil},
		"not finite":           {append(simulated(9, 1, 0, [2]float64{30, 10}, [2]float64{30, 90}), math.NaN()), nil},
	} {
		got := Segment(tc.series)
		var places []int
		for _, c := range got.Changes {
			places = append(places, c.At)
		}
		if diff := cmp.Diff(tc.want, places); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestSegmentTellsLevels(t *testing.T) {
	series := simulated(10, 0, 0, [2]float64{20, 1000}, [2]float64{20, 400})
	if diff := cmp.Diff(Segmentation{Changes: []Change{{At: 20, Before: 1000, After: 400}}}, Segment(series)); diff != "" {
		t.Error(diff)
	}
}

// One second in which nothing committed is a spike, not two changes of level.
func TestSegmentTellsSpikes(t *testing.T) {
	series := simulated(11, 15, 0, [2]float64{60, 1000})
	series[33] = 0
	if diff := cmp.Diff(Segmentation{Spikes: []int{33}}, Segment(series)); diff != "" {
		t.Error(diff)
	}
}

// Levels are rarely seen where there is one, even when the noise drifts.
func TestSegmentOfOneLevel(t *testing.T) {
	for _, kept := range []float64{0, 0.3, 0.6} {
		const tries = 300
		found := 0
		for seed := range uint64(tries) {
			series := simulated(100+seed, 60, kept, [2]float64{120, 1000})
			if len(Segment(series).Changes) > 0 {
				found++
			}
		}
		if share := float64(found) / tries; share > 0.05 {
			t.Errorf("noise that keeps %v: changes in %.3f of the series without any", kept, share)
		}
	}
}

func TestSegmentLeavesTheSeries(t *testing.T) {
	series := simulated(12, 10, 0, [2]float64{30, 100}, [2]float64{30, 300})
	before := append([]float64(nil), series...)
	Segment(series)
	if diff := cmp.Diff(before, series); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkSegmentAnHour(b *testing.B) {
	series := simulated(13, 20, 0.3, [2]float64{3600, 1000})
	for b.Loop() {
		Segment(series)
	}
}
