// Package pgbenchmark reconciles PgBenchmarks. A single one gets a database and roles
// of its own and a Job, which go by the cleanup policy. A matrix gets clusters, and a
// single PgBenchmark for each run.
package pgbenchmark

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
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
	"github.com/pgstorage/pgstorage/internal/operator/decide/benchmarks"
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
const recheck = 30 * time.Second

// retry is when a pass is repeated that met a newer version than it had read.
const retry = time.Second

var gvk = v1alpha1.GroupVersion.WithKind("PgBenchmark")

// Reconciler reconciles PgBenchmarks.
type Reconciler struct {
	client.Client
	Readers observe.Readers
	APIs    *observe.ForeignAPIs
	Config  clusters.Config
	Clock   clock.PassiveClock
	Events  events.EventRecorder
	// MatrixClusters lets a matrix have clusters of its own, which is experimental.
	MatrixClusters bool
	// Watch starts the watches of foreign kinds once their CRDs exist.
	Watch func(observed.ForeignAPIs) error

	// created holds the Secrets that this process created: see passwords.
	created sync.Map
}

// Reconcile one benchmark.
func (r *Reconciler) Reconcile(ctx context.Context, b *v1alpha1.PgBenchmark) (reconcile.Result, error) {
	switch {
	case toolarge.Skips(r.Events, b):
		return reconcile.Result{}, nil
	case b.Spec.Matrix == nil:
		return r.single(ctx, b)
	case r.withholds(b):
		return r.withheld(ctx, b)
	}
	return r.matrix(ctx, b)
}

// single reconciles a benchmark of one run.
func (r *Reconciler) single(ctx context.Context, b *v1alpha1.PgBenchmark) (reconcile.Result, error) {
	apis, err := r.APIs.Get(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.Watch(apis); err != nil {
		return reconcile.Result{}, fmt.Errorf("watch foreign kinds: %w", err)
	}
	facts, live, err := r.Readers.Benchmark(ctx, b, apis)
	if err != nil {
		return reconcile.Result{}, err
	}
	facts.Now = r.Clock.Now()
	switch {
	case !b.DeletionTimestamp.IsZero():
		return r.finalize(ctx, b, facts)
	case benchmarks.Ended(b):
		return r.finish(ctx, b, facts)
	case facts.Job != nil || b.Status.Job != "":
		completion := benchmarks.Completion(b, facts)
		return reconcile.Result{}, r.report(ctx, b, facts, outcome.DoneWith(v1alpha1.ConditionTargetReady, v1alpha1.ReasonReady, "the benchmark was started"), completion)
	}
	return r.prepare(ctx, b, facts, live)
}

// prepare makes everything up to the Job.
func (r *Reconciler) prepare(ctx context.Context, b *v1alpha1.PgBenchmark, facts observed.Benchmark, live plan.Live) (reconcile.Result, error) {
	if err := apply.AddFinalizer(ctx, r.Client, b, naming.BenchmarkFinalizer); err != nil {
		return reconcile.Result{}, err
	}
	built, err := benchmarks.Build(b, facts, r.Config)
	if err != nil {
		return reconcile.Result{}, err
	}
	if built.Target.Kind == outcome.Done && facts.Role == nil {
		if err := r.passwords(ctx, b, built.Passwords); err != nil {
			return reconcile.Result{}, err
		}
	}
	_, applyErr := apply.Plan(ctx, r.Client, &built.Plan, live)
	outcomes := built.Outcomes(b, facts)
	if applyErr != nil && apply.Rejected(applyErr) {
		outcomes[1] = outcome.WaitFor(v1alpha1.ConditionComplete, v1alpha1.ReasonRejected, "the API server refuses what the benchmark needs: "+applyErr.Error())
		applyErr = nil
	}
	if err := r.report(ctx, b, facts, outcomes...); err != nil {
		return reconcile.Result{}, err
	}
	result := requeue(outcomes)
	if benchmarks.AsksAgain(facts) {
		result.RequeueAfter = benchmarks.AskAgain
	}
	return result, applyErr
}

func requeue(outcomes []outcome.Outcome) reconcile.Result {
	for _, o := range outcomes {
		switch o.Reason {
		case v1alpha1.ReasonScriptNotFound, v1alpha1.ReasonCNPGNotInstalled, v1alpha1.ReasonCNPGTooOld, v1alpha1.ReasonRejected:
			return reconcile.Result{RequeueAfter: recheck}
		}
	}
	return reconcile.Result{}
}

// finish cleans up after an ended benchmark as its policy asks.
func (r *Reconciler) finish(ctx context.Context, b *v1alpha1.PgBenchmark, facts observed.Benchmark) (reconcile.Result, error) {
	outcomes := append([]outcome.Outcome{benchmarks.Completion(b, facts), benchmarks.Integrity(b), benchmarks.Believable(b)}, benchmarks.Layers(b)...)
	cleaned := outcome.DoneWith(v1alpha1.ConditionCleanedUp, v1alpha1.ReasonCleanedUp, "Job, database and roles are gone")
	remove := r.teardown
	if benchmarks.Keeps(b) {
		cleaned = outcome.DoneWith(v1alpha1.ConditionCleanedUp, v1alpha1.ReasonKept, fmt.Sprintf("spec.pgbench.cleanup is %s: Job, database and its owner stay until this PgBenchmark is deleted; %s", b.Spec.Pgbench.Cleanup, superuserGone))
		remove = r.retire
	}
	if waits, err := remove(ctx, b, facts); err != nil {
		return reconcile.Result{}, err
	} else if waits != "" {
		cleaned = outcome.WaitFor(v1alpha1.ConditionCleanedUp, v1alpha1.ReasonDeleting, waits)
	}
	cleaned.Informative = true
	return reconcile.Result{}, r.report(ctx, b, facts, append(outcomes, cleaned)...)
}

// report writes the status, then the event of a transition.
func (r *Reconciler) report(ctx context.Context, b *v1alpha1.PgBenchmark, facts observed.Benchmark, outcomes ...outcome.Outcome) error {
	now := metav1.NewTime(r.Clock.Now()).Rfc3339Copy()
	completion := outcomes[0]
	for _, o := range outcomes {
		if o.Condition == v1alpha1.ConditionComplete {
			completion = o
		}
	}
	want := benchmarks.Status(b, facts, completion, now)
	if want.Phase == v1alpha1.PhaseSucceeded && completion.Kind == outcome.Done && !benchmarks.Ended(b) {
		outcomes = append(outcomes, benchmarks.Integrity(b), benchmarks.Believable(b))
	}
	want.Conditions = status.Conditions(b.Status.Conditions, b.Generation, now, outcomes)
	have := *b.Status.DeepCopy()
	// The runner owns run: it is neither compared nor claimed.
	have.Run = nil
	if _, err := status.Apply(ctx, r.Client, naming.FieldOwner, b, gvk, have, want); err != nil {
		return err
	}
	if want.Phase != have.Phase {
		kind := corev1.EventTypeNormal
		if want.Phase == v1alpha1.PhaseFailed {
			kind = corev1.EventTypeWarning
		}
		r.Events.Eventf(b, nil, kind, want.Phase, "Benchmark", "%s", completion.Message)
	}
	r.emitUnreliable(b, have, want)
	return nil
}
