package matrices

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// What is planned has the values of its axes, also where variants by name bring them.
func TestPlanned(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.PgBenchmarkSpec)
		axes   map[string][]string
		runs   int
	}{
		"axes": {nil, map[string][]string{axisDurability: {"Local", "Async"}, axisClients: {"1", "8"}}, 20},
		"named": {func(s *v1alpha1.PgBenchmarkSpec) {
			s.Matrix.Durability, s.Template.Durability = nil, v1alpha1.DurabilityLocal
			s.Matrix.Variants = []v1alpha1.MatrixVariant{{Name: "default"}, {Name: "large", Parameters: []v1alpha1.ParameterValue{{Name: "work_mem", Value: "64MB"}}}}
		}, map[string][]string{"work_mem": {"64MB"}, axisClients: {"1", "8"}}, 20},
	} {
		p, err := Planned(twoByTwo(tc.change))
		if err != nil {
			t.Fatal(err)
		}
		axes := map[string][]string{}
		for _, a := range p.Axes {
			axes[a.Name] = a.Values
		}
		if diff := cmp.Diff(tc.axes, axes); diff != "" || len(p.Variants) != 4 || p.Runs != tc.runs {
			t.Errorf("%s: %s, %d variants, %d runs", name, diff, len(p.Variants), p.Runs)
		}
	}
}
