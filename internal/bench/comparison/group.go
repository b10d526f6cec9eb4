package comparison

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// Sample has the values of one figure of one variant, by repeat.
type Sample struct {
	// Variant by name, unique among the results.
	Variant string
	// Tier that was verified during the measurement.
	Tier v1alpha1.DurabilityTier
	// Values by number of the repeat. Repeats that failed are absent.
	Values map[int]float64
}

// Figure that is compared.
type Figure struct {
	// Name and Unit for messages: "TPS", "p99 latency" and "ms".
	Name, Unit string
	// LowerIsBetter, as of a latency.
	LowerIsBetter bool
}

// The usual figures.
var (
	TPS        = Figure{Name: "TPS"}
	LatencyP99 = Figure{Name: "p99 latency", Unit: "ms", LowerIsBetter: true}
)

// tiers in display order: the one that loses least first, the unknown one last.
var tiers = []v1alpha1.DurabilityTier{v1alpha1.DurabilityQuorum, v1alpha1.DurabilityLocal, v1alpha1.DurabilityAsync, v1alpha1.DurabilityEphemeral, v1alpha1.DurabilityReadOnly, v1alpha1.DurabilityUnverified}

// Tiers returns the durability tiers in display order.
func Tiers() []v1alpha1.DurabilityTier { return slices.Clone(tiers) }

// Group has the samples of one durability tier. Only ByTier creates one.
type Group struct {
	tier    v1alpha1.DurabilityTier
	figure  Figure
	members []member
}

type member struct {
	Sample
	summary statistics.Summary
}

// ErrUnknownTier is the error for a sample without a tier of the API. A rate means
// nothing unless it is known what a commit waits for.
var ErrUnknownTier = errors.New("the durability tier must be Quorum, Local, Async, Ephemeral, ReadOnly or Unverified")

// ByTier groups samples by their tier, with tiers and variants in a fixed order. It
// skips samples without values, whose variants failed throughout.
func ByTier(figure Figure, results []Sample) ([]Group, error) {
	groups := make([]Group, len(tiers))
	seen := map[string]bool{}
	for _, r := range results {
		at := slices.Index(tiers, r.Tier)
		if at < 0 {
			return nil, fmt.Errorf("variant %q with durability %q: %w", r.Variant, r.Tier, ErrUnknownTier)
		}
		if seen[r.Variant] {
			return nil, fmt.Errorf("variant %q is listed twice", r.Variant)
		}
		seen[r.Variant] = true
		if len(r.Values) == 0 {
			continue
		}
		summary, err := statistics.Summarise(r.inOrder())
		if err != nil {
			return nil, fmt.Errorf("variant %q: %w", r.Variant, err)
		}
		groups[at].tier, groups[at].figure = r.Tier, figure
		groups[at].members = append(groups[at].members, member{r, summary})
	}
	return slices.DeleteFunc(groups, func(g Group) bool { return len(g.members) == 0 }), nil
}

// Tier of all results in the group.
func (g Group) Tier() v1alpha1.DurabilityTier { return g.tier }

// Variants of the group, in the order in which they came.
func (g Group) Variants() []string {
	var names []string
	for _, m := range g.members {
		names = append(names, m.Variant)
	}
	return names
}

func (g Group) index(variant string) int {
	return slices.IndexFunc(g.members, func(m member) bool { return m.Variant == variant })
}

// repeats that were measured, in ascending sequence.
func (r Sample) repeats() []int {
	var numbers []int
	for n := range r.Values {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return numbers
}

func (r Sample) inOrder() []float64 {
	var values []float64
	for _, n := range r.repeats() {
		values = append(values, r.Values[n])
	}
	return values
}
