package matrices

import (
	"slices"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
)

// Plan of a matrix, for its reports.
type Plan struct {
	// Axes that have values, in the order of names, and the Variants.
	Axes     []matrix.Axis
	Variants []matrix.Variant
	// Runs of all variants together.
	Runs int
}

// Planned is what a benchmark with a matrix plans, whatever became of it.
func Planned(b *v1alpha1.PgBenchmark) (Plan, error) {
	d, err := newDesign(b, 0)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Variants: d.Variants, Runs: len(d.Runs)}
	for _, a := range axes(b) {
		if a.Values = valuesOn(a, d.Variants); len(a.Values) > 0 {
			p.Axes = append(p.Axes, a)
		}
	}
	return p, nil
}

// valuesOn an axis. Variants by name bring their own.
func valuesOn(a matrix.Axis, variants []matrix.Variant) []string {
	values := slices.Clone(a.Values)
	for _, v := range variants {
		if value, given := v.Values[a.Name]; given && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}
