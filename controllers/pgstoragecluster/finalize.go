package pgstoragecluster

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/status"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
)

// finalize carries out deletionPolicy. While suspended nothing is removed, the
// finalizer included.
func (r *Reconciler) finalize(ctx context.Context, p *pass) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(p.cr, naming.ClusterFinalizer) {
		return reconcile.Result{}, nil
	}
	if clusters.Suspended(p.cr) {
		return reconcile.Result{}, r.waiting(ctx, p, v1alpha1.ReasonSuspended, "deletion waits: spec.suspend is true; set it to false to go on")
	}
	if p.facts.Cluster == nil {
		return reconcile.Result{}, r.release(ctx, p.cr)
	}
	if p.cr.Spec.DeletionPolicy == v1alpha1.DeletionDelete {
		return r.remove(ctx, p)
	}
	return reconcile.Result{}, r.retain(ctx, p)
}

// remove deletes the database. Its Cluster owns the claims, so they go with it.
func (r *Reconciler) remove(ctx context.Context, p *pass) (reconcile.Result, error) {
	if p.facts.Cluster.DeletionTimestamp.IsZero() {
		if err := apply.Delete(ctx, r.Client, p.facts.Cluster); err != nil {
			return reconcile.Result{}, err
		}
		r.Events.Eventf(p.cr, nil, corev1.EventTypeNormal, "DatabaseDeleting", "Delete", "deletionPolicy is Delete: the CloudNativePG Cluster %s and its claims are being deleted", p.cr.Name)
	}
	return reconcile.Result{RequeueAfter: pollInterval}, r.waiting(ctx, p, v1alpha1.ReasonDeleting, "waits until the CloudNativePG Cluster is gone")
}

// retain lets the database go on without us: it loses our labels and keeps
// everything else. A fence of ours stays where the devices are not back, and nobody
// lifts it then, which is told.
func (r *Reconciler) retain(ctx context.Context, p *pass) error {
	if err := r.fence(ctx, p); err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": p.facts.Cluster.UID,
		"labels": map[string]any{
			naming.LabelManagedBy: nil, naming.LabelCluster: nil, naming.LabelOwnerUID: nil,
		},
		"annotations": map[string]any{naming.AnnotationIntent: nil, naming.AnnotationAdopt: nil, naming.AnnotationFenced: nil},
	}})
	if err != nil {
		return fmt.Errorf("marshal release of %s: %w", p.cr.Name, err)
	}
	if err := r.Patch(ctx, p.facts.Cluster.DeepCopy(), client.RawPatch(types.MergePatchType, patch)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("release CloudNativePG Cluster %s: %w", p.cr.Name, err)
	}
	r.Events.Eventf(p.cr, nil, corev1.EventTypeNormal, "DatabaseRetained", "Delete", "deletionPolicy is Retain: the CloudNativePG Cluster %s and its volumes stay; delete them with: kubectl -n %s delete clusters.postgresql.cnpg.io %s", p.cr.Name, p.cr.Namespace, p.cr.Name)
	if left := clusters.Fence(p.facts).Ours; len(left) > 0 {
		r.Events.Eventf(p.cr, nil, corev1.EventTypeWarning, "FenceLeft", "Delete", "these instances stay fenced, since the devices beneath were lost and are not back: %s; once they are, run: kubectl cnpg fencing off %s INSTANCE", strings.Join(left, ", "), p.cr.Name)
	}
	return r.release(ctx, p.cr)
}

func (r *Reconciler) release(ctx context.Context, cr *v1alpha1.PgStorageCluster) error {
	r.ReadBack.Forget(client.ObjectKeyFromObject(cr))
	return apply.RemoveFinalizer(ctx, r.Client, cr, naming.ClusterFinalizer)
}

func (r *Reconciler) waiting(ctx context.Context, p *pass, reason, message string) error {
	want := *p.cr.Status.DeepCopy()
	want.ObservedGeneration = p.cr.Generation
	want.Conditions = status.Conditions(p.cr.Status.Conditions, p.cr.Generation, metav1.NewTime(r.Clock.Now()),
		[]outcome.Outcome{outcome.WaitFor(v1alpha1.ConditionDatabaseReady, reason, message)})
	_, err := status.Apply(ctx, r.Client, naming.FieldOwner, p.cr, gvk, p.cr.Status, want)
	return err
}
