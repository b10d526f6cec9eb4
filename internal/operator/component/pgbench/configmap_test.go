package pgbench

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
)

// The runner compares the quota that it reads with the limit that the cluster declares.
func TestInstructionsHaveTheDeclaredCPULimit(t *testing.T) {
	b := &v1alpha1.PgBenchmark{ObjectMeta: metav1.ObjectMeta{Namespace: "db", Name: "nightly", UID: "1"}, Spec: v1alpha1.PgBenchmarkSpec{Cluster: "shop"}}
	for limit, want := range map[string]float64{"": 0, "1500m": 1.5} {
		target := &v1alpha1.PgStorageCluster{Spec: v1alpha1.PgStorageClusterSpec{Durability: v1alpha1.DurabilityLocal}}
		if limit != "" {
			target.Spec.Resources.Limits = map[corev1.ResourceName]resource.Quantity{corev1.ResourceCPU: resource.MustParse(limit)}
		}
		cm, err := ConfigMap(ConfigMapInputs{Benchmark: b, Target: target})
		if err != nil {
			t.Fatal(err)
		}
		s, err := spec.Parse([]byte(cm.Data[specFile]))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.DeclaredCPU(); (got == nil) != (want == 0) || got != nil && *got != want {
			t.Errorf("limit %q: got %v, want %v", limit, got, want)
		}
	}
}
