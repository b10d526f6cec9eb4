package pgstoragecluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
)

// deletePools deletes the read pools that are not declared, and those that are cloned
// again, with their volumes.
func (r *Reconciler) deletePools(ctx context.Context, p *pass) {
	if clusters.Suspended(p.cr) {
		return
	}
	for _, pool := range clusters.PoolsToDelete(p.cr, p.facts, r.Config) {
		if p.failure != nil {
			return
		}
		if p.failure = r.deletePool(ctx, pool, v1alpha1.DeletionDelete); p.failure == nil {
			r.Events.Eventf(p.cr, nil, corev1.EventTypeNormal, "ReadPoolDeleting", "Delete", "the PgStorageCluster %s of read pool %s and its volumes are being deleted", pool.Name, pool.Labels[naming.LabelReadPool])
		}
	}
}

// deletePool deletes the PgStorageCluster of a pool with the deletionPolicy that its
// volumes are to have. The policy is written first: a manager that dies in between deletes
// the pool in its next pass.
func (r *Reconciler) deletePool(ctx context.Context, pool *v1alpha1.PgStorageCluster, policy v1alpha1.DeletionPolicy) error {
	if pool.Spec.DeletionPolicy != policy {
		// The copy has the new version, which the deletion has as its condition.
		pool = pool.DeepCopy()
		if err := apply.MergeSpec(ctx, r.Client, pool, map[string]any{"deletionPolicy": policy}); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	return apply.Delete(ctx, r.Client, pool)
}

// poolsGone deletes the read pools of a cluster that is being deleted, by its own
// deletionPolicy, and says whether all are gone. A cache that lags may lack one, which
// nothing would delete without this object.
func (r *Reconciler) poolsGone(ctx context.Context, p *pass) (gone bool, err error) {
	if len(p.facts.Pools) == 0 {
		if p.facts.Pools, err = r.Readers.LivePools(ctx, p.cr); err != nil {
			return false, err
		}
	}
	for _, pool := range p.facts.Pools {
		if !pool.DeletionTimestamp.IsZero() || !r.Config.ReadPools {
			continue
		}
		if err := r.deletePool(ctx, pool, p.cr.Spec.DeletionPolicy); err != nil {
			return false, err
		}
	}
	return len(p.facts.Pools) == 0, nil
}

// relatives of a PgStorageCluster are the cluster that it follows, and the read pools that
// follow it.
func relatives(_ context.Context, obj client.Object) []reconcile.Request {
	cr, ok := obj.(*v1alpha1.PgStorageCluster)
	if !ok {
		return nil
	}
	var out []reconcile.Request
	add := func(name string) {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKey{Namespace: cr.Namespace, Name: name}})
	}
	if cr.Spec.Follow != nil {
		add(cr.Spec.Follow.Cluster)
	}
	for _, p := range cr.Spec.ReadPools {
		add(naming.ReadPool(cr.Name, p.Name))
	}
	return out
}
