package observe

import (
	"context"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// volumes that a benchmark writes to. Every instance has the data and the WAL, so the
// smallest of each counts.
func (r Readers) volumes(ctx context.Context, b *v1alpha1.PgBenchmark, facts observed.Benchmark) (observed.Volumes, error) {
	var out observed.Volumes
	if !hasDatabase(facts) {
		return out, nil
	}
	cluster, err := find(ctx, r.Cache, client.ObjectKey{Namespace: b.Namespace, Name: b.Spec.Cluster}, &cnpgv1.Cluster{})
	if err != nil || cluster == nil {
		return out, err
	}
	list, err := r.listClaims(ctx, cluster.Namespace, client.MatchingLabels{naming.LabelCNPGCluster: cluster.Name})
	if err != nil {
		return out, err
	}
	for i := range list.Items {
		c := &list.Items[i]
		capacity := c.Status.Capacity.Storage().Value()
		switch {
		case !current(cluster, c) || capacity <= 0:
		case c.Labels[naming.LabelCNPGPVCRole] == roleData:
			out.Data = smaller(out.Data, capacity)
		case c.Labels[naming.LabelCNPGPVCRole] == roleWAL:
			out.WAL = smaller(out.WAL, capacity)
		}
	}
	return out, nil
}

// smaller of two capacities, of which the first may be unknown.
func smaller(known, other int64) int64 {
	if known == 0 {
		return other
	}
	return min(known, other)
}
