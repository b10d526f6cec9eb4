package statistics

import "math"

// pelt finds the change points with the least sum of squared errors within segments and of a
// penalty for each change. Segments have at least least values. It is exact. It takes linear
// time where changes keep appearing, quadratic at worst (Killick, Fearnhead & Eckley, Journal
// of the American Statistical Association 107:1590, section 3.2).
func pelt(series []float64, penalty float64, least int) []int {
	n := len(series)
	cost := squaredErrors(series)
	// best[t] is the least cost of the first t values, reached with the last segment from
	// last[t]. Candidates are the starts that may still be best.
	best, last := make([]float64, n+1), make([]int, n+1)
	for t := range best {
		best[t] = math.Inf(1)
	}
	best[0] = -penalty
	var candidates []int
	for t := least; t <= n; t++ {
		// A segment up to here may begin where one of full length can end.
		if start := t - least; start == 0 || start >= least {
			candidates = append(candidates, start)
		}
		// A start that loses against a change at end, a full segment ago, can never be best
		// again.
		end := t - least
		candidates = prune(candidates, func(start int) bool {
			return end < start+least || best[start]+cost(start, end) <= best[end]
		})
		for _, start := range candidates {
			if c := best[start] + cost(start, t) + penalty; c < best[t] {
				best[t], last[t] = c, start
			}
		}
	}
	return placesOf(last, n)
}

// prune keeps the starts that can still be best. A start is out if its segment up to an end
// costs more than the best up to there, whatever follows. A change at that end must leave room
// for a segment, or it could not replace the start.
func prune(candidates []int, keep func(int) bool) []int {
	kept := candidates[:0]
	for _, start := range candidates {
		if keep(start) {
			kept = append(kept, start)
		}
	}
	return kept
}

// squaredErrors is the sum of squared deviations from the mean over any part of a
// series, in constant time by cumulative sums. The median is taken off first, or
// the squares of large values would drown the differences.
func squaredErrors(series []float64) func(from, to int) float64 {
	centre := medianOf(series)
	sums, squares := make([]float64, len(series)+1), make([]float64, len(series)+1)
	for i, v := range series {
		v -= centre
		sums[i+1], squares[i+1] = sums[i]+v, squares[i]+v*v
	}
	return func(from, to int) float64 {
		sum := sums[to] - sums[from]
		return max(0, squares[to]-squares[from]-sum*sum/float64(to-from))
	}
}

// placesOf the changes, from the last segment back.
func placesOf(last []int, end int) []int {
	var places []int
	for start := last[end]; start > 0; start = last[start] {
		places = append([]int{start}, places...)
	}
	return places
}
