package statistics

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

const (
	// shortestSegment in values: what is shorter is a spike, not a level.
	shortestSegment = 5
	// leastChange of a reported level, as a share of the level before it. A tenth of this is
	// not reproducible on any machine, and half of it does not matter.
	leastChange = 0.05
	// penaltyFactor times log(n) times the variance is what a change must explain. 2 is the
	// criterion of Schwarz for a level and its place, and 3 leaves room because the noise is an
	// estimate.
	penaltyFactor = 3
	// fewestBlocks whose spread says anything.
	fewestBlocks = 8
)

// blockLengths in values, of the blocks by whose means slow noise is measured.
var blockLengths = []int{5, 10}

// Change of level of a series.
type Change struct {
	// At is the index of the first value of the new level.
	At int `json:"at"`
	// Before and After are the medians of the levels.
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// Segmentation of a series, as of a run's transactions of each second.
type Segmentation struct {
	Changes []Change `json:"changes,omitempty"`
	// Spikes are the indices of single values far from those around them, as of a
	// second in which nothing committed. They do not count towards a level.
	Spikes []int `json:"spikes,omitempty"`
}

// Segment splits a series into levels by PELT (Killick, Fearnhead & Eckley 2012) with squared
// error. It finds the places of any number of changes that explain the series best, when each
// must explain more than chance does. The noise comes from the series itself; noise that
// drifts, as of a database's checkpoints, counts in full. Levels are at least 5 values long and
// differ by at least 5%. A Hampel filter over 7 values (Hampel 1974) first removes spikes
// beyond 5 scaled median deviations.
//
// Any value that is not finite gives an empty Segmentation, and so does a series of fewer than
// 10.
func Segment(series []float64) Segmentation {
	if len(series) < 2*shortestSegment || checkFinite(series) != nil {
		return Segmentation{}
	}
	smooth, spikes := hampel(series)
	places := pelt(smooth, penalty(smooth), shortestSegment)
	return Segmentation{Changes: changes(smooth, places), Spikes: spikes}
}

// changes keeps the places at which the level changes by enough. The smallest one
// goes first, since without it its neighbours' levels are others.
func changes(series []float64, places []int) []Change {
	for len(places) > 0 {
		found := make([]Change, len(places))
		smallest, at := leastChange, -1
		for i, place := range places {
			from, to := 0, len(series)
			if i > 0 {
				from = places[i-1]
			}
			if i < len(places)-1 {
				to = places[i+1]
			}
			found[i] = Change{At: place, Before: medianOf(series[from:place]), After: medianOf(series[place:to])}
			if moved := found[i].share(); moved < smallest {
				smallest, at = moved, i
			}
		}
		if at < 0 {
			return found
		}
		places = slices.Delete(places, at, at+1)
	}
	return nil
}

// share of the change in the higher of its levels, so that up and down count alike.
func (c Change) share() float64 {
	if c.Before == c.After {
		return 0
	}
	return math.Abs(c.After-c.Before) / max(math.Abs(c.After), math.Abs(c.Before))
}

func medianOf(values []float64) float64 { return median(slices.Sorted(slices.Values(values))) }

// penalty of each change point. The variance is of the differences of neighbours, which no
// level is part of. Where neighbours resemble each other that is too little, and the means of
// blocks decide.
func penalty(series []float64) float64 {
	variance := differenceVariance(series)
	for _, length := range blockLengths {
		n := len(series) / length
		if n < fewestBlocks {
			break
		}
		means := make([]float64, n)
		for i := range means {
			means[i] = stats.Mean(series[i*length : (i+1)*length])
		}
		variance = max(variance, float64(length)*differenceVariance(means))
	}
	return penaltyFactor * math.Log(float64(len(series))) * variance
}

// normalDeviation is the standard deviation of a normal distribution in its median
// absolute deviations.
const normalDeviation = 1.4826

// differenceVariance is the variance of independent values whose neighbours differ
// as these do; robust, so that a few changes of level do not count.
func differenceVariance(values []float64) float64 {
	differences := make([]float64, len(values)-1)
	for i := range differences {
		differences[i] = values[i+1] - values[i]
	}
	deviation := normalDeviation * deviationOf(differences, medianOf(differences))
	return deviation * deviation / 2
}

// deviationOf is the median absolute deviation from a centre.
func deviationOf(values []float64, centre float64) float64 {
	away := make([]float64, len(values))
	for i, v := range values {
		away[i] = math.Abs(v - centre)
	}
	return medianOf(away)
}
