package observe

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Schedule reads the facts about a PgScheduledBenchmark. Its benchmarks are the objects
// of the cache, which callers must not change.
func (r Readers) Schedule(ctx context.Context, s *v1alpha1.PgScheduledBenchmark) (observed.Schedule, error) {
	facts, list := observed.Schedule{}, &v1alpha1.PgBenchmarkList{}
	if err := r.Cache.List(ctx, list, client.InNamespace(s.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return facts, fmt.Errorf("list PgBenchmarks: %w", err)
	}
	for i := range list.Items {
		facts.Benchmarks = append(facts.Benchmarks, &list.Items[i])
	}
	return facts, nil
}
