// Package pgstoragecluster reconciles PgStorageClusters into CloudNativePG
// Clusters: observe, build, apply, prune, status.
package pgstoragecluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers/toolarge"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/kube/status"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=list
// +kubebuilder:rbac:groups="",resources=pods,verbs=get
// +kubebuilder:rbac:groups="",resources=persistentvolumes,verbs=get
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;create;patch;delete
// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgstorageclusters,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgstorageclusters/status,verbs=patch
// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgstorageprofiles,verbs=get;list;watch
// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgbenchmarks,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=postgresql.cnpg.io,resources=clusters,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=monitoring.coreos.com,resources=podmonitors,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=clusters.postgresql.cnpg.io;databases.postgresql.cnpg.io;databaseroles.postgresql.cnpg.io;podmonitors.monitoring.coreos.com,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// recheck is when a pass is repeated for things that no watch covers: CRDs that
// appear, namesakes that are not in the cache.
const pollInterval = time.Minute

var gvk = v1alpha1.GroupVersion.WithKind("PgStorageCluster")

// Reconciler reconciles PgStorageClusters.
type Reconciler struct {
	client.Client
	Readers  observe.Readers
	APIs     *observe.ForeignAPIs
	ReadBack *observe.ReadBack
	Config   clusters.Config
	Clock    clock.PassiveClock
	Events   events.EventRecorder
	// Watch starts the watches of foreign kinds once their CRDs exist.
	Watch func(observed.ForeignAPIs) error
}

// pass is all that one pass over a cluster knows.
type pass struct {
	cr      *v1alpha1.PgStorageCluster
	facts   observed.Cluster
	live    plan.Live
	built   clusters.Cluster
	changes []apply.Change
}

// Reconcile one cluster.
func (r *Reconciler) Reconcile(ctx context.Context, cr *v1alpha1.PgStorageCluster) (reconcile.Result, error) {
	if toolarge.Skips(r.Events, cr) {
		return reconcile.Result{}, nil
	}
	p, err := r.observe(ctx, cr)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !cr.DeletionTimestamp.IsZero() {
		return r.finalize(ctx, p)
	}
	if err := apply.AddFinalizer(ctx, r.Client, cr, naming.ClusterFinalizer); err != nil {
		return reconcile.Result{}, err
	}
	p.built, err = clusters.Build(cr, p.facts, r.Config)
	if err != nil {
		return reconcile.Result{}, err
	}
	var applyErr error
	if !clusters.Suspended(cr) {
		applyErr = r.apply(ctx, p)
	}
	return r.report(ctx, p, applyErr)
}

func (r *Reconciler) observe(ctx context.Context, cr *v1alpha1.PgStorageCluster) (*pass, error) {
	apis, err := r.APIs.Get(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.Watch(apis); err != nil {
		return nil, fmt.Errorf("watch foreign kinds: %w", err)
	}
	facts, live, err := r.Readers.Cluster(ctx, cr, apis, clusters.BenchmarkName(cr))
	if err != nil {
		return nil, err
	}
	if facts.Cluster != nil && clusters.Healthy(cr, facts.Cluster) {
		facts.ReadBack = r.ReadBack.Of(ctx, facts.Cluster, parameterNames(cr, facts.Cluster))
	}
	if facts.Adoptee != nil {
		facts.AdopteeReadBack = r.ReadBack.Of(ctx, facts.Adoptee, parameterNames(cr, facts.Adoptee))
	}
	return &pass{cr: cr, facts: facts, live: live}, nil
}

// parameterNames are those that are compared with what the instances report: the
// Cluster's, the user's, and those that the operator set last. Others are not kept.
func parameterNames(cr *v1alpha1.PgStorageCluster, cluster *cnpgv1.Cluster) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(cluster.Spec.PostgresConfiguration.Parameters)), maps.Keys(cr.Spec.Postgres.Parameters))
	for _, p := range cr.Status.Parameters {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// apply writes the plan and prunes what it no longer wants.
func (r *Reconciler) apply(ctx context.Context, p *pass) error {
	if err := r.fence(ctx, p); err != nil {
		return err
	}
	changes, err := apply.Plan(ctx, r.Client, &p.built.Plan, p.live)
	p.changes = changes
	if err != nil {
		return err
	}
	if err := r.forgetConsent(ctx, p.facts.Cluster); err != nil {
		return err
	}
	return r.prune(ctx, p)
}

// forgetConsent removes the consent to an adoption once it was used, so that it
// is not there for another PgStorageCluster of this name.
func (r *Reconciler) forgetConsent(ctx context.Context, cluster *cnpgv1.Cluster) error {
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

// prune deletes children that are disposable and no longer wanted. The database
// is not among them.
func (r *Reconciler) prune(ctx context.Context, p *pass) error {
	for key, seen := range p.live {
		if key.Kind == "Cluster" || p.built.Plan.Has(key) || seen.GetDeletionTimestamp() != nil {
			continue
		}
		if !metav1.IsControlledBy(seen, p.cr) {
			continue
		}
		if err := apply.Delete(ctx, r.Client, seen); err != nil {
			return err
		}
	}
	return nil
}

// report writes the status, then the events that follow from it.
func (r *Reconciler) report(ctx context.Context, p *pass, applyErr error) (reconcile.Result, error) {
	outcomes := p.built.AllOutcomes(p.cr, p.facts)
	outcomes, applyErr = rejected(outcomes, applyErr)
	want := p.built.Status(p.cr, p.facts)
	want.Conditions = status.Conditions(p.cr.Status.Conditions, p.cr.Generation, metav1.NewTime(r.Clock.Now()), outcomes)
	before := p.cr.DeepCopy()
	_, err := status.Apply(ctx, r.Client, naming.FieldOwner, p.cr, gvk, p.cr.Status, want)
	if err != nil {
		return reconcile.Result{}, errors.Join(applyErr, err)
	}
	r.emit(before, want, p.changes)
	return r.next(p, outcomes), applyErr
}

// rejected turns an object that the API server will not take into an outcome, so
// that it is shown and not retried without end.
func rejected(outcomes []outcome.Outcome, err error) ([]outcome.Outcome, error) {
	if err == nil || !apply.Rejected(err) {
		return outcomes, err
	}
	for i, o := range outcomes {
		if o.Condition == v1alpha1.ConditionDatabaseReady {
			outcomes[i] = outcome.InvalidBecause(o.Condition, v1alpha1.ReasonRejected, "the API server refuses what follows from this spec: "+err.Error())
		}
	}
	return outcomes, nil
}

// next says when to look again at what no watch covers.
func (r *Reconciler) next(p *pass, outcomes []outcome.Outcome) reconcile.Result {
	result := reconcile.Result{}
	soon := func(d time.Duration) {
		if result.RequeueAfter == 0 || d < result.RequeueAfter {
			result.RequeueAfter = d
		}
	}
	for _, o := range outcomes {
		switch o.Reason {
		case v1alpha1.ReasonCNPGNotInstalled, v1alpha1.ReasonCNPGTooOld, v1alpha1.ReasonCRDNotInstalled,
			v1alpha1.ReasonClusterNotOwned, v1alpha1.ReasonRejected, v1alpha1.ReasonAdoptionRefused, v1alpha1.ReasonDurabilityWeakened:
			soon(pollInterval)
		case v1alpha1.ReasonParametersDiffer, v1alpha1.ReasonNotReadBack:
			if p.facts.Cluster != nil && clusters.Healthy(p.cr, p.facts.Cluster) {
				soon(r.ReadBack.Next(client.ObjectKeyFromObject(p.facts.Cluster)))
			}
		case v1alpha1.ReasonVolumeDiffers:
			soon(pollInterval)
		case v1alpha1.ReasonApplied:
			soon(observe.ReadBackEvery)
		}
	}
	r.settle(p, outcomes)
	return result
}

// settle has a read-back that was as wanted believed for longer. What a role or database
// has is not expected to change soon.
func (r *Reconciler) settle(p *pass, outcomes []outcome.Outcome) {
	durability := reasonOf(outcomes, v1alpha1.ConditionDurabilityVerified)
	if reasonOf(outcomes, v1alpha1.ConditionParametersApplied) == v1alpha1.ReasonApplied && (durability == v1alpha1.ReasonVerified || durability == v1alpha1.ReasonDurabilityOverridden) {
		r.ReadBack.Settle(client.ObjectKeyFromObject(p.facts.Cluster))
	}
}

// reasonOf a condition among the outcomes; empty where there is none.
func reasonOf(outcomes []outcome.Outcome, condition string) string {
	for _, o := range outcomes {
		if o.Condition == condition {
			return o.Reason
		}
	}
	return ""
}
