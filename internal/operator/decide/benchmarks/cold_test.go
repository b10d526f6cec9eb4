package benchmarks

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Caches are emptied on clusters that a matrix has made, and on no other.
func TestColdCacheIsForAMatrixOwnClusters(t *testing.T) {
	yes, no := true, false
	b := &v1alpha1.PgBenchmark{Spec: v1alpha1.PgBenchmarkSpec{Cluster: "shop", Pgbench: v1alpha1.PgbenchSpec{ColdCache: true}}}
	owner := func(kind, version string, controller *bool) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: "m", UID: "1", Controller: controller}}
	}
	version := v1alpha1.GroupVersion.String()
	for name, c := range map[string]struct {
		owners []metav1.OwnerReference
		takes  bool
	}{
		"a person's":          {},
		"a matrix'":           {owner("PgBenchmark", version, &yes), true},
		"owned by the way":    {owner("PgBenchmark", version, &no), false},
		"another kind's":      {owner("Application", version, &yes), false},
		"another group's":     {owner("PgBenchmark", "example.com/v1", &yes), false},
		"owned, and nobody's": {owner("PgBenchmark", version, nil), false},
		"a later version's":   {owner("PgBenchmark", "pgstorage.dev/v9", &yes), false},
	} {
		cr := target(func(s *v1alpha1.PgStorageClusterSpec) { s.BenchmarkPolicy = v1alpha1.BenchmarkAny })
		cr.OwnerReferences = c.owners
		built, err := Build(b, observed.Benchmark{Target: cr}, runnerConfig)
		if err != nil {
			t.Fatal(err)
		}
		refused := built.Target.Kind == outcome.Invalid && built.Target.Reason == v1alpha1.ReasonInvalidSpec && strings.HasPrefix(built.Target.Message, "spec.pgbench.coldCache ")
		if refused == c.takes {
			t.Errorf("%s: %+v", name, built.Target)
		}
		if _, held := built.Plan.GateOf(plan.StageAccess); !held {
			t.Errorf("%s: something is made for a cluster that cannot be measured", name)
		}
		complete, _ := built.Outcomes(b, observed.Benchmark{Target: cr}).Get(v1alpha1.ConditionComplete)
		if refused && complete.Kind != outcome.Invalid {
			t.Errorf("%s: got %+v, want Complete to be Invalid, which ends the benchmark", name, complete)
		}
	}
}
