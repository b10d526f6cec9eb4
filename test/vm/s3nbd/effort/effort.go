// Package effort compares processors by the same work.
package effort

import (
	"math/rand/v2"
	"slices"
	"time"
)

const (
	numbers = 500_000
	tries   = 3
)

// Measure how long it takes to sort some numbers, at best of a few tries: others use
// the processor too.
func Measure() time.Duration {
	least := time.Hour
	for range tries {
		source := rand.New(rand.NewPCG(1, 2))
		all := make([]int, numbers)
		for i := range all {
			all[i] = source.Int()
		}
		begin := time.Now()
		slices.Sort(all)
		least = min(least, time.Since(begin))
	}
	return least
}
