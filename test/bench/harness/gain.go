package harness

import (
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/comparison"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// Gain compares the TPS of two configurations of one durability tier, both by round. It
// returns nil where too few rounds have both.
func Gain(tier v1alpha1.DurabilityTier, of, over map[int]float64) *statistics.Comparison {
	groups, err := comparison.ByTier(comparison.TPS, []comparison.Sample{
		{Variant: "over", Tier: tier, Values: over},
		{Variant: "of", Tier: tier, Values: of},
	})
	if err != nil || len(groups) != 1 {
		return nil
	}
	differences, err := groups[0].Against("over")
	if err != nil || len(differences) != 1 {
		return nil
	}
	return differences[0].Comparison
}

// Ratio prints a comparison with its interval.
func Ratio(c *statistics.Comparison) string {
	if c == nil {
		return "too few runs"
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", c.Ratio, c.Interval.Lower, c.Interval.Upper)
}
