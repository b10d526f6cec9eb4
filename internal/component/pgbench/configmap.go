package pgbench

import (
	"encoding/json"
	"fmt"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/benchrun/spec"
	"github.com/pgstorage/pgstorage/internal/naming"
	"github.com/pgstorage/pgstorage/internal/plan"
)

// ConfigMap tells the runner what to do.
func ConfigMap(b *v1alpha1.PgBenchmark, target *v1alpha1.PgStorageCluster) (*corev1ac.ConfigMapApplyConfiguration, error) {
	raw, err := json.MarshalIndent(instructions(b, target), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("instructions of PgBenchmark %s: %w", b.Name, err)
	}
	return corev1ac.ConfigMap(naming.BenchmarkObject(b.Name, string(b.UID)), b.Namespace).
		WithLabels(naming.BenchmarkLabels(b.Name)).
		WithOwnerReferences(plan.ControllerReference(kind, b)).
		WithData(map[string]string{specFile: string(raw)}), nil
}

func instructions(b *v1alpha1.PgBenchmark, target *v1alpha1.PgStorageCluster) spec.Spec {
	out := spec.Spec{Cluster: b.Spec.Cluster, Pgbench: b.Spec.Pgbench, ScriptsDir: scriptsDir}
	if target != nil {
		out.Durability = target.Spec.Durability
	}
	return out
}
