package observe

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Matrix reads the facts about a PgBenchmark with a matrix, and its children. They are
// the objects of the cache, which callers must not change. A tenant could multiply
// copies of all benchmarks of a namespace for each pass.
func (r Readers) Matrix(ctx context.Context, b *v1alpha1.PgBenchmark) (observed.Matrix, plan.Live, error) {
	facts, live := observed.Matrix{}, plan.Live{}
	benchmarks := &v1alpha1.PgBenchmarkList{}
	if err := r.Cache.List(ctx, benchmarks, client.InNamespace(b.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return facts, nil, fmt.Errorf("list PgBenchmarks: %w", err)
	}
	for i := range benchmarks.Items {
		run := &benchmarks.Items[i]
		facts.Benchmarks = append(facts.Benchmarks, run)
		if metav1.IsControlledBy(run, b) {
			live[keyOf(benchmarkGVK, run)] = run
		}
	}
	clusters := &v1alpha1.PgStorageClusterList{}
	if err := r.Cache.List(ctx, clusters, client.InNamespace(b.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return facts, nil, fmt.Errorf("list PgStorageClusters: %w", err)
	}
	for i := range clusters.Items {
		cluster := &clusters.Items[i]
		facts.Clusters = append(facts.Clusters, cluster)
		if metav1.IsControlledBy(cluster, b) {
			live[keyOf(storageClusterGVK, cluster)] = cluster
		}
	}
	return facts, live, nil
}
