// Package pgbenchmark reconciles PgBenchmarks: observe, build, apply, prune, report. For a
// single run it creates a database, roles and a Job, and deletes them by the cleanup
// policy. For a matrix it creates clusters, and a PgBenchmark of a single run for each run.
package pgbenchmark

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers/toolarge"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgbenchmarks,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgstorageclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgbenchmarks/status,verbs=patch
// +kubebuilder:rbac:groups=postgresql.cnpg.io,resources=databases;databaseroles,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=create;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;create;patch;delete
// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=create;patch;delete
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=roles;rolebindings,verbs=create;patch;delete

// The right to make and delete PgStorageClusters is not in the manager's role: it is that
// of config/matrix-clusters, for those who switch on MatrixClusters.

// recheck is when a pass is repeated for what no watch covers: ConfigMaps of
// users, CRDs that appear.
const pollInterval = 30 * time.Second

var gvk = v1alpha1.GroupVersion.WithKind("PgBenchmark")

// Reconciler reconciles PgBenchmarks.
type Reconciler struct {
	client.Client
	Readers observe.Readers
	APIs    *observe.ForeignAPIs
	Config  clusters.Config
	Clock   clock.PassiveClock
	Events  events.EventRecorder
	// MatrixClusters lets a matrix create temporary clusters. It is experimental.
	MatrixClusters bool
	// Watch starts the watches of foreign kinds once their CRDs exist.
	Watch func(observed.ForeignAPIs) error

	// created has the Secrets that this process created. See passwords.
	created sync.Map
}

// Reconcile one benchmark: a single run, or a matrix of them.
func (r *Reconciler) Reconcile(ctx context.Context, b *v1alpha1.PgBenchmark) (reconcile.Result, error) {
	if toolarge.Skips(r.Events, b) {
		return reconcile.Result{}, nil
	}
	if r.withholds(b) {
		return r.withheld(ctx, b)
	}
	p := r.pass(b)
	if err := p.observe(ctx); err != nil {
		return reconcile.Result{}, err
	}
	if !b.DeletionTimestamp.IsZero() {
		return p.finalize(ctx)
	}
	if err := p.build(); err != nil {
		return reconcile.Result{}, err
	}
	if err := p.apply(ctx); err != nil {
		return reconcile.Result{}, err
	}
	if err := p.prune(ctx); err != nil {
		return reconcile.Result{}, err
	}
	return p.report(ctx)
}

// pass is one reconcile of a benchmark, in these phases.
type pass interface {
	// observe reads the benchmark's objects and what it depends on.
	observe(ctx context.Context) error
	// finalize deletes everything of a deleted benchmark, in place of the phases below.
	finalize(ctx context.Context) (reconcile.Result, error)
	// build decides, without the API server, what follows from what was observed.
	build() error
	// apply writes what was decided.
	apply(ctx context.Context) error
	// prune deletes what is no longer needed.
	prune(ctx context.Context) error
	// report writes the status, and returns when to reconcile again.
	report(ctx context.Context) (reconcile.Result, error)
}

func (r *Reconciler) pass(b *v1alpha1.PgBenchmark) pass {
	if b.Spec.Matrix == nil {
		return &runPass{Reconciler: r, b: b}
	}
	return r.matrixPass(b)
}
