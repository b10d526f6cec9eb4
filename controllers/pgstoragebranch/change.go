package pgstoragebranch

import (
	"context"
	"fmt"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// make what is missing.
func (r *Reconciler) make(ctx context.Context, p *pass) error {
	if err := r.create(ctx, p); err != nil {
		return err
	}
	if _, err := apply.Plan(ctx, r.Client, &p.decision.Plan, p.live); err != nil {
		return err
	}
	return r.promote(ctx, p)
}

// remove what the decision deletes, and the branch where it has expired. An object that
// changed since it was read is deleted by a later pass.
func (r *Reconciler) remove(ctx context.Context, p *pass) error {
	for _, o := range p.decision.Delete {
		if err := r.delete(ctx, o); err != nil && !apierrors.IsConflict(err) {
			return err
		}
	}
	if p.decision.Expired {
		return client.IgnoreNotFound(r.Delete(ctx, p.b.DeepCopy(), client.Preconditions(metav1.Preconditions{UID: &p.b.UID})))
	}
	if p.decision.Released {
		return apply.RemoveFinalizer(ctx, r.Client, p.b, naming.BranchFinalizer)
	}
	return nil
}

// delete an object of the branch. A PgStorageCluster goes with its data, whatever its
// deletionPolicy was changed to: its volumes are no more than what the branch added.
func (r *Reconciler) delete(ctx context.Context, o client.Object) error {
	cr, database := o.(*v1alpha1.PgStorageCluster)
	if !database || cr.Spec.DeletionPolicy == v1alpha1.DeletionDelete {
		return apply.Delete(ctx, r.Client, o)
	}
	after := cr.DeepCopy()
	if err := apply.MergeSpec(ctx, r.Client, after, map[string]any{"deletionPolicy": v1alpha1.DeletionDelete}); err != nil {
		return err
	}
	return apply.Delete(ctx, r.Client, after)
}

// create the VolumeSnapshot and the PgStorageCluster that the decision has. One that exists
// already is found by the next pass.
func (r *Reconciler) create(ctx context.Context, p *pass) error {
	if s := p.decision.Snapshot; s != nil {
		if err := r.Create(ctx, s, client.FieldOwner(naming.FieldOwner)); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create VolumeSnapshot %s: %w", s.Name, err)
		}
	}
	if cr := p.decision.Cluster; cr != nil {
		if err := r.Create(ctx, cr, client.FieldOwner(naming.FieldOwner)); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create PgStorageCluster %s: %w", cr.Name, err)
		}
	}
	return nil
}

// promote: what becomes of the data, the number of instances, and which one is to be the primary.
func (r *Reconciler) promote(ctx context.Context, p *pass) error {
	if p.decision.Keep && p.facts.Cluster != nil && p.facts.Cluster.Spec.DeletionPolicy != v1alpha1.DeletionRetain {
		return apply.MergeSpec(ctx, r.Client, p.facts.Cluster.DeepCopy(), map[string]any{"deletionPolicy": v1alpha1.DeletionRetain})
	}
	if n := p.decision.Instances; n > 0 && p.facts.Cluster != nil && (p.facts.Cluster.Spec.Instances == nil || *p.facts.Cluster.Spec.Instances != n) {
		return apply.MergeSpec(ctx, r.Client, p.facts.Cluster.DeepCopy(), map[string]any{"instances": n})
	}
	if p.decision.Primary == "" || p.facts.Database == nil {
		return nil
	}
	return r.switchOver(ctx, p.facts.Database, p.decision.Primary)
}

// switchOver to an instance as kubectl cnpg promote does.
func (r *Reconciler) switchOver(ctx context.Context, database *cnpgv1.Cluster, instance string) error {
	before, after := database.DeepCopy(), database.DeepCopy()
	after.Status.TargetPrimary = instance
	after.Status.TargetPrimaryTimestamp = r.Clock.Now().UTC().Format(metav1.RFC3339Micro)
	after.Status.Phase = cnpgv1.PhaseSwitchover
	after.Status.PhaseReason = "Switching over to " + instance
	if err := r.Status().Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("switch Cluster %s over to %s: %w", database.Name, instance, err)
	}
	return nil
}
