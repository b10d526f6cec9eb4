package clusters

import (
	"encoding/json"
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	apiac "github.com/pgstorage/pgstorage/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
)

// inlineBenchmark is the PgBenchmark of a cluster's own benchmark.
func inlineBenchmark(cr *v1alpha1.PgStorageCluster) (*apiac.PgBenchmarkApplyConfiguration, error) {
	raw, err := json.Marshal(cr.Spec.Benchmark.PgbenchSpec)
	if err != nil {
		return nil, fmt.Errorf("spec.benchmark: %w", err)
	}
	spec := apiac.PgbenchSpec()
	if err := json.Unmarshal(raw, spec); err != nil {
		return nil, fmt.Errorf("spec.benchmark: %w", err)
	}
	return apiac.PgBenchmark(BenchmarkName(cr), cr.Namespace).
		WithLabels(naming.Labels(cr.Name)).
		WithOwnerReferences(plan.ControllerReference("PgStorageCluster", cr)).
		WithSpec(apiac.PgBenchmarkSpec().WithCluster(cr.Name).WithPgbench(spec)), nil
}
