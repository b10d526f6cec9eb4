// Package pgstoragecluster reconciles PgStorageClusters: observe, build, apply, prune,
// report. For each it creates a CloudNativePG Cluster, a PodMonitor and a PgBenchmark.
package pgstoragecluster

import (
	"context"
	"errors"
	"fmt"
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

// The right to create and delete PgStorageClusters, for read pools, is in
// config/read-pools, for those who switch on ReadPools.
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=list
// +kubebuilder:rbac:groups="",resources=pods,verbs=get
// +kubebuilder:rbac:groups="",resources=persistentvolumes,verbs=get
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;create;patch;delete
// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgstorageclusters,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgstorageclusters/status,verbs=patch
// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgstorageprofiles,verbs=get;list;watch
// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgstoragebranches,verbs=get;list;watch
// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgstoragebranches/status,verbs=patch
// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgbenchmarks,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=postgresql.cnpg.io,resources=clusters,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=postgresql.cnpg.io,resources=scheduledbackups,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=snapshot.storage.k8s.io,resources=volumesnapshots,verbs=get;list;watch
// +kubebuilder:rbac:groups=barmancloud.cnpg.io,resources=objectstores,verbs=get
// +kubebuilder:rbac:groups=monitoring.coreos.com,resources=podmonitors,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=clusters.postgresql.cnpg.io;databases.postgresql.cnpg.io;databaseroles.postgresql.cnpg.io;podmonitors.monitoring.coreos.com;objectstores.barmancloud.cnpg.io,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// pollInterval is when a pass is repeated for things that no watch covers: CRDs that
// appear, namesakes that are not in the cache.
const pollInterval = time.Minute

// shortInterval is when a pass looks again for what may end within seconds. No watch covers an
// ObjectStore, the first base backup in it, and the volumes of claims.
const shortInterval = 15 * time.Second

var gvk = v1alpha1.GroupVersion.WithKind("PgStorageCluster")

// Reconciler reconciles PgStorageClusters.
type Reconciler struct {
	client.Client
	Readers  observe.Readers
	APIs     *observe.ForeignAPIs
	ReadBack *observe.ReadBack
	Sites    *observe.Sites
	Backups  observe.Backups
	Config   clusters.Config
	Clock    clock.PassiveClock
	Events   events.EventRecorder
	// Watch starts the watches of foreign kinds once their CRDs exist.
	Watch func(observed.ForeignAPIs) error
}

// pass is what one reconcile of a cluster knows.
type pass struct {
	cr       *v1alpha1.PgStorageCluster
	facts    observed.Cluster
	live     plan.Live
	built    clusters.Cluster
	outcomes outcome.Set
	applied  apply.Result
	// failure of a write, which report returns after it wrote the status.
	failure error
}

// Reconcile one cluster. A suspended one is observed and reported only.
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
	if err := r.build(p); err != nil {
		return reconcile.Result{}, err
	}
	r.apply(ctx, p)
	r.prune(ctx, p)
	r.deletePools(ctx, p)
	r.deleteBackups(ctx, p)
	return r.report(ctx, p)
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
	if answers(cr, facts) {
		facts.ReadBack = r.ReadBack.Of(ctx, facts.Cluster, parameterNames(cr, facts.Cluster))
	}
	if facts.Source != nil && facts.Source.Cluster != nil {
		facts.Source.Kept = r.ReadBack.Kept(ctx, facts.Source.Cluster, clusters.Stuck(facts))
	}
	if err := r.copies(ctx, cr, &facts, live); err != nil {
		return nil, err
	}
	if facts.Adoptee != nil {
		facts.AdopteeReadBack = r.ReadBack.Of(ctx, facts.Adoptee, parameterNames(cr, facts.Adoptee))
	}
	return &pass{cr: cr, facts: facts, live: live}, nil
}

// copies observes what else has the database: other sites, and backups.
func (r *Reconciler) copies(ctx context.Context, cr *v1alpha1.PgStorageCluster, facts *observed.Cluster, live plan.Live) error {
	if r.Config.Sites {
		if err := r.Sites.Of(ctx, cr, facts, live); err != nil {
			return err
		}
	}
	return r.Backups.Of(ctx, cr, facts, live)
}

// answers says that the instances are asked. A follower that is behind is not ready, which is
// when its lag matters.
func answers(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) bool {
	return facts.Cluster != nil && (clusters.Healthy(cr, facts.Cluster) || clusters.Follows(cr) || cr.Spec.Topology != nil)
}

func (r *Reconciler) build(p *pass) (err error) {
	if p.built, err = clusters.Build(p.cr, p.facts, r.Readers.Kinds, r.Config); err == nil {
		p.outcomes = p.built.AllOutcomes(p.cr, p.facts)
	}
	return err
}

// apply writes the fences, then the plan, then removes a consent that was used.
func (r *Reconciler) apply(ctx context.Context, p *pass) {
	if clusters.Suspended(p.cr) {
		return
	}
	if p.failure = r.fence(ctx, p); p.failure != nil {
		return
	}
	if p.failure = r.fenceSite(ctx, p); p.failure != nil {
		return
	}
	if p.applied, p.failure = apply.Plan(ctx, r.Client, &p.built.Plan, p.live); p.failure != nil {
		return
	}
	if p.failure = r.removeAdoptionConsent(ctx, p.facts.Cluster); p.failure != nil {
		return
	}
	p.failure = r.removePromotionConsent(ctx, p)
}

// prune deletes disposable children that the plan does not contain. It never deletes the
// database.
func (r *Reconciler) prune(ctx context.Context, p *pass) {
	if clusters.Suspended(p.cr) {
		return
	}
	for key, child := range p.live {
		if p.failure != nil {
			return
		}
		if key.Kind == "Cluster" || p.built.Plan.Has(key) || child.GetDeletionTimestamp() != nil || !disposable(child, p.cr) {
			continue
		}
		p.failure = apply.Delete(ctx, r.Client, child)
	}
}

// disposable children belong to the PgStorageCluster alone. The Cluster owns
// ScheduledBackups, which outlive this object.
func disposable(child plan.Seen, cr *v1alpha1.PgStorageCluster) bool {
	_, schedule := child.(*cnpgv1.ScheduledBackup)
	return metav1.IsControlledBy(child, cr) || schedule && child.GetLabels()[naming.LabelOwnerUID] == string(cr.UID)
}

// report writes the status and emits the events that follow from it. An object that the
// API server rejects becomes an outcome: a retry would not help.
func (r *Reconciler) report(ctx context.Context, p *pass) (reconcile.Result, error) {
	for _, rejection := range p.applied.Rejected {
		clusters.AddRejected(&p.outcomes, rejection.Stage, rejection.Err)
	}
	if apply.Rejected(p.failure) {
		clusters.AddRejected(&p.outcomes, plan.StageDatabase, p.failure)
		p.failure = nil
	}
	want := p.built.Status(p.cr, p.facts)
	want.Conditions = status.Conditions(p.cr.Status.Conditions, p.cr.Generation, metav1.NewTime(r.Clock.Now()), p.outcomes)
	before := p.cr.DeepCopy()
	have := *p.cr.Status.DeepCopy()
	// Another controller owns the verification of backups: it is neither compared nor claimed.
	have.BackupVerification = nil
	if _, err := status.Apply(ctx, r.Client, naming.FieldOwner, p.cr, gvk, have, want); err != nil {
		return reconcile.Result{}, errors.Join(p.failure, err)
	}
	r.emit(before, want, p.applied.Changes)
	result := r.requeue(p)
	if apply.Outdated(p.failure) {
		result.RequeueAfter, p.failure = apply.OutdatedDelay, nil
	}
	return result, p.failure
}
