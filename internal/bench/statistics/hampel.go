package statistics

import "math"

const (
	// neighbours on each side with which a value is compared.
	neighbours = 3
	// spike in scaled median deviations. Hampel's own 3 takes out one value of
	// fifty of a window of seven, where nothing is wrong.
	spike = 5
)

// hampel puts the median of its surroundings in the place of each value that is
// far from them, and says which.
func hampel(series []float64) (smooth []float64, spikes []int) {
	smooth = append([]float64(nil), series...)
	// A window whose values are nearly all the same would make a spike of any
	// other; the whole series says what is usual.
	usual := math.Sqrt(differenceVariance(series))
	for i, v := range series {
		window := series[max(0, i-neighbours):min(len(series), i+neighbours+1)]
		centre := medianOf(window)
		deviation := max(usual, normalDeviation*deviationOf(window, centre))
		if math.Abs(v-centre) > spike*deviation {
			smooth[i] = centre
			spikes = append(spikes, i)
		}
	}
	return smooth, spikes
}
