package statistics

import (
	"cmp"
	"slices"
)

// Holm corrects the P-values of several comparisons that answer one question (Holm 1979). The
// chance of even one false claim among them stays below the level with which each is compared.
// The result is in the order of the values.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	adjusted := make([]float64, len(p))
	least := 0.0
	for rank, i := range order {
		least = max(least, min(1, float64(len(p)-rank)*p[i]))
		adjusted[i] = least
	}
	return adjusted
}
