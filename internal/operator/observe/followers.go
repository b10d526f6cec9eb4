package observe

import (
	"context"
	"fmt"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// followed reads what a follower replicates.
func (r Readers) followed(ctx context.Context, cr *v1alpha1.PgStorageCluster, facts *observed.Cluster) error {
	if cr.Spec.Follow == nil {
		return nil
	}
	key := client.ObjectKey{Namespace: cr.Namespace, Name: cr.Spec.Follow.Cluster}
	found, err := find(ctx, r.Cache, key, &v1alpha1.PgStorageCluster{})
	if err != nil || found == nil {
		return err
	}
	facts.Source = &observed.Source{PgStorageCluster: found}
	if !facts.CNPGInstalled {
		return nil
	}
	cluster, err := find(ctx, r.Cache, key, &cnpgv1.Cluster{})
	if err != nil || cluster == nil || cluster.Labels[naming.LabelOwnerUID] != string(found.UID) {
		return err
	}
	facts.Source.Cluster = cluster
	return nil
}

// LivePools asks the API server for the PgStorageClusters of the read pools that this cluster
// made, by the name of the pool.
func (r Readers) LivePools(ctx context.Context, cr *v1alpha1.PgStorageCluster) (map[string]*v1alpha1.PgStorageCluster, error) {
	return poolsOf(ctx, r.Live, cr)
}

func poolsOf(ctx context.Context, from client.Reader, cr *v1alpha1.PgStorageCluster) (map[string]*v1alpha1.PgStorageCluster, error) {
	list := &v1alpha1.PgStorageClusterList{}
	if err := from.List(ctx, list, client.InNamespace(cr.Namespace), client.MatchingLabels(naming.DataBearing(cr.Name, string(cr.UID))), client.HasLabels{naming.LabelReadPool}); err != nil {
		return nil, fmt.Errorf("list read pools of %s: %w", cr.Name, err)
	}
	pools := map[string]*v1alpha1.PgStorageCluster{}
	for i := range list.Items {
		c := &list.Items[i]
		// Labels are anyone's to give.
		if pool := c.Labels[naming.LabelReadPool]; c.Name == naming.ReadPool(cr.Name, pool) {
			pools[pool] = c
		}
	}
	return pools, nil
}

// pools reads the PgStorageClusters of read pools: those that this cluster made, and
// others that have the name of a declared one.
func (r Readers) pools(ctx context.Context, cr *v1alpha1.PgStorageCluster, facts *observed.Cluster, live plan.Live) (err error) {
	if facts.Pools, err = poolsOf(ctx, r.Cache, cr); err != nil {
		return err
	}
	facts.PoolsInMemory, facts.ForeignPools = map[string]bool{}, map[string]bool{}
	for pool, c := range facts.Pools {
		on, err := find(ctx, r.Cache, client.ObjectKey{Name: c.Spec.Profile}, &v1alpha1.PgStorageProfile{})
		if err != nil {
			return err
		}
		facts.PoolsInMemory[pool] = on != nil && on.Spec.Type == v1alpha1.ProfileTypeMemory
		live[keyOf(storageClusterGVK, c)] = c
	}
	for _, p := range cr.Spec.ReadPools {
		if facts.Pools[p.Name] != nil {
			continue
		}
		other, err := find(ctx, r.Cache, client.ObjectKey{Namespace: cr.Namespace, Name: naming.ReadPool(cr.Name, p.Name)}, &v1alpha1.PgStorageCluster{})
		if err != nil {
			return err
		}
		facts.ForeignPools[p.Name] = other != nil
	}
	return nil
}
