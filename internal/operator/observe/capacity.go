package observe

import (
	"context"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// volumes of a cluster that a benchmark writes to. Every instance has the data and the WAL, so
// the smallest of each counts.
func (r Readers) volumes(ctx context.Context, cr *v1alpha1.PgStorageCluster, facts observed.Benchmark) (observed.Volumes, error) {
	if !facts.CNPGInstalled || cr == nil || cr.Status.Database == nil {
		return observed.Volumes{}, nil
	}
	cluster, err := find(ctx, r.Cache, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{})
	if err != nil || cluster == nil {
		return observed.Volumes{}, err
	}
	return r.capacities(ctx, cluster)
}

func (r Readers) capacities(ctx context.Context, cluster *cnpgv1.Cluster) (observed.Volumes, error) {
	var out observed.Volumes
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
