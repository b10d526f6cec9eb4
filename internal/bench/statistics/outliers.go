package statistics

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

const (
	// fewestForOutliers: of two values neither is identifiable as the outlier.
	fewestForOutliers = 3
	// outlierLevel is the share of samples without outliers in which one is named.
	outlierLevel = 0.05
	// outlierShare: at most one in four values, and always one, can be out.
	outlierShare = 4
)

// Outliers are the indices of the values that do not belong to the others, ascending. The test
// is the generalised extreme studentised deviate test at 5% (Rosner 1983;
// https://www.itl.nist.gov/div898/handbook/eda/section3/eda35h3.htm). With five values it is
// Grubbs's test. It names an outlier in one of twenty samples without any. The fences of a box
// plot, of five values, would in about one of three.
func Outliers(values []float64) []int {
	n := len(values)
	if n < fewestForOutliers {
		return nil
	}
	left := make([]int, n)
	for i := range left {
		left[i] = i
	}
	var removed []int
	found := 0
	for i := 1; i <= max(1, n/outlierShare); i++ {
		at, deviation := mostDeviant(values, left)
		if deviation == 0 {
			break
		}
		removed = append(removed, left[at])
		left = slices.Delete(left, at, at+1)
		// A later value that is out takes those before it along: together they
		// hid each other.
		if deviation > criticalDeviation(n, i) {
			found = i
		}
	}
	return slices.Sorted(slices.Values(removed[:found]))
}

// mostDeviant is the position in indices of the value farthest from the mean, and
// how many standard deviations that is.
func mostDeviant(values []float64, indices []int) (at int, deviation float64) {
	sample := make([]float64, len(indices))
	for i, index := range indices {
		sample[i] = values[index]
	}
	mean, stddev := stats.Mean(sample), stats.StdDev(sample)
	if stddev == 0 {
		return 0, 0
	}
	for i, v := range sample {
		if d := math.Abs(v-mean) / stddev; d > deviation {
			at, deviation = i, d
		}
	}
	return at, deviation
}

// criticalDeviation of the i-th of n values, Rosner's lambda.
func criticalDeviation(n, i int) float64 {
	rest := float64(n - i)
	t := quantileOfT(rest-1, 1-outlierLevel/(2*(rest+1)))
	return rest * t / math.Sqrt((rest-1+t*t)*(rest+1))
}
