package pgstoragecluster

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/status"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
)

// finalize carries out deletionPolicy. It changes nothing while the cluster is suspended.
func (r *Reconciler) finalize(ctx context.Context, p *pass) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(p.cr, naming.ClusterFinalizer) {
		return reconcile.Result{}, nil
	}
	if clusters.Suspended(p.cr) {
		return reconcile.Result{}, r.reportDeletion(ctx, p, clusters.DeletionSuspended())
	}
	if gone, err := r.poolsGone(ctx, p); err != nil || !gone {
		if err == nil {
			err = r.reportDeletion(ctx, p, clusters.DeletingPools(p.facts, r.Config))
		}
		return reconcile.Result{RequeueAfter: pollInterval}, err
	}
	if p.facts.Cluster == nil {
		return reconcile.Result{}, r.release(ctx, p.cr)
	}
	if p.cr.Spec.DeletionPolicy == v1alpha1.DeletionDelete {
		return r.remove(ctx, p)
	}
	return reconcile.Result{}, r.retain(ctx, p)
}

// remove deletes the database. Its Cluster owns the claims, so the garbage collector
// deletes them.
func (r *Reconciler) remove(ctx context.Context, p *pass) (reconcile.Result, error) {
	if p.facts.Cluster.DeletionTimestamp.IsZero() {
		if err := apply.Delete(ctx, r.Client, p.facts.Cluster); err != nil {
			return reconcile.Result{}, err
		}
		r.Events.Eventf(p.cr, nil, corev1.EventTypeNormal, "DatabaseDeleting", "Delete", "deletionPolicy is Delete: the CloudNativePG Cluster %s and its claims are being deleted", p.cr.Name)
	}
	return reconcile.Result{RequeueAfter: pollInterval}, r.reportDeletion(ctx, p, clusters.Deleting())
}

// retain leaves the database running without the operator: it removes our labels and
// annotations, and nothing else. A fence of ours stays on an instance whose devices are
// not back, and around a site that another one outranks. Nothing lifts it later, so an event
// names what stays fenced. The labels of the Cluster go last: without them, a later pass
// would not know that the rest is to be done.
func (r *Reconciler) retain(ctx context.Context, p *pass) error {
	if err := r.fence(ctx, p); err != nil {
		return err
	}
	if err := r.retainBackups(ctx, p); err != nil {
		return err
	}
	r.Events.Eventf(p.cr, nil, corev1.EventTypeNormal, "DatabaseRetained", "Delete", "deletionPolicy is Retain: the CloudNativePG Cluster %s and its volumes stay; delete them with: kubectl -n %s delete clusters.postgresql.cnpg.io %s", p.cr.Name, p.cr.Namespace, p.cr.Name)
	for _, left := range clusters.FencesLeft(p.facts) {
		r.Events.Eventf(p.cr, nil, corev1.EventTypeWarning, "FenceLeft", "Delete", "%s", left)
	}
	if err := r.retainCluster(ctx, p); err != nil {
		return err
	}
	return r.release(ctx, p.cr)
}

// retainCluster removes our labels and annotations from the Cluster, which stays.
func (r *Reconciler) retainCluster(ctx context.Context, p *pass) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": p.facts.Cluster.UID,
		"labels": map[string]any{
			naming.LabelManagedBy: nil, naming.LabelCluster: nil, naming.LabelOwnerUID: nil,
		},
		"annotations": map[string]any{naming.AnnotationIntent: nil, naming.AnnotationAdopt: nil, naming.AnnotationFenced: nil, naming.AnnotationFencedBySites: nil},
	}})
	if err != nil {
		return fmt.Errorf("marshal release of %s: %w", p.cr.Name, err)
	}
	if err := r.Patch(ctx, p.facts.Cluster.DeepCopy(), client.RawPatch(types.MergePatchType, patch)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("release CloudNativePG Cluster %s: %w", p.cr.Name, err)
	}
	return nil
}

// retainBackups removes our labels from the ScheduledBackups, which stay.
func (r *Reconciler) retainBackups(ctx context.Context, p *pass) error {
	for _, child := range p.live {
		b, scheduled := child.(*cnpgv1.ScheduledBackup)
		if !scheduled {
			continue
		}
		after := b.DeepCopy()
		for _, label := range []string{naming.LabelManagedBy, naming.LabelCluster, naming.LabelOwnerUID} {
			delete(after.Labels, label)
		}
		delete(after.Annotations, naming.AnnotationIntent)
		if err := r.Patch(ctx, after, client.MergeFrom(b)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("release ScheduledBackup %s: %w", b.Name, err)
		}
	}
	return nil
}

func (r *Reconciler) release(ctx context.Context, cr *v1alpha1.PgStorageCluster) error {
	r.ReadBack.Forget(client.ObjectKeyFromObject(cr))
	return apply.RemoveFinalizer(ctx, r.Client, cr, naming.ClusterFinalizer)
}

// reportDeletion writes the one condition of a PgStorageCluster that is being deleted.
func (r *Reconciler) reportDeletion(ctx context.Context, p *pass, o outcome.Outcome) error {
	want := *p.cr.Status.DeepCopy()
	want.ObservedGeneration = p.cr.Generation
	want.Conditions = status.Conditions(p.cr.Status.Conditions, p.cr.Generation, metav1.NewTime(r.Clock.Now()), outcome.NewSet(o))
	_, err := status.Apply(ctx, r.Client, naming.FieldOwner, p.cr, gvk, p.cr.Status, want)
	return err
}

// removeAdoptionConsent removes the annotation that allowed an adoption. Otherwise it
// would allow one by a later PgStorageCluster of the same name.
func (r *Reconciler) removeAdoptionConsent(ctx context.Context, cluster *cnpgv1.Cluster) error {
	if cluster == nil || cluster.Annotations[naming.AnnotationAdopt] == "" {
		return nil
	}
	before := cluster.DeepCopy()
	after := cluster.DeepCopy()
	delete(after.Annotations, naming.AnnotationAdopt)
	if err := r.Patch(ctx, after, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("remove %s from Cluster %s: %w", naming.AnnotationAdopt, cluster.Name, err)
	}
	return nil
}
