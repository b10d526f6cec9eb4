package pgbenchmark

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/kube/status"
	"github.com/pgstorage/pgstorage/internal/operator/decide/matrices"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// matrix reconciles a benchmark of many variants.
func (r *Reconciler) matrix(ctx context.Context, b *v1alpha1.PgBenchmark) (reconcile.Result, error) {
	facts, live, err := r.Readers.Matrix(ctx, b)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !b.DeletionTimestamp.IsZero() {
		return r.finalizeMatrix(ctx, b, facts)
	}
	if err := apply.AddFinalizer(ctx, r.Client, b, naming.BenchmarkFinalizer); err != nil {
		return reconcile.Result{}, err
	}
	now := metav1.NewTime(r.Clock.Now()).Rfc3339Copy()
	step, err := matrices.Decide(b, facts, now)
	if err != nil {
		return reconcile.Result{}, err
	}
	err = r.take(ctx, b, step, live)
	if err != nil && step.Begins && apply.Rejected(err) {
		facts.Refusal = err.Error()
		if step, err = matrices.Decide(b, facts, now); err == nil {
			err = r.take(ctx, b, step, live)
		}
	}
	if apierrors.IsConflict(err) {
		// A newer version is on its way to the cache.
		return reconcile.Result{RequeueAfter: conflictDelay}, nil
	}
	return reconcile.Result{RequeueAfter: step.After}, err
}

// take a step: records before what follows from them.
func (r *Reconciler) take(ctx context.Context, b *v1alpha1.PgBenchmark, step matrices.Decision, live plan.Live) error {
	if err := r.record(ctx, b, step); err != nil {
		return err
	}
	if err := r.discard(ctx, step.Benchmarks, step.Clusters); err != nil {
		return err
	}
	_, err := apply.Plan(ctx, r.Client, &step.Plan, live)
	return err
}

// record the status of a step, then the events of what is new in it.
func (r *Reconciler) record(ctx context.Context, b *v1alpha1.PgBenchmark, step matrices.Decision) error {
	have, want := *b.Status.DeepCopy(), step.Status
	now := metav1.NewTime(r.Clock.Now()).Rfc3339Copy()
	want.Conditions = status.Conditions(b.Status.Conditions, b.Generation, now, step.Outcomes)
	have.Run = nil
	wrote, err := status.ApplyLocked(ctx, r.Client, naming.FieldOwner, b, gvk, have, want)
	if err != nil || !wrote {
		return err
	}
	r.tell(b, have, want)
	return nil
}

// tell of the end, of runs that failed, and of the gate.
func (r *Reconciler) tell(b *v1alpha1.PgBenchmark, have, want v1alpha1.PgBenchmarkStatus) {
	for _, failed := range newFailures(have.Matrix, want.Matrix) {
		r.Events.Eventf(b, nil, corev1.EventTypeWarning, "RunFailed", "Benchmark", "%s", failed)
	}
	if want.CompletionTime != nil && have.CompletionTime == nil {
		r.tellCondition(b, meta.FindStatusCondition(want.Conditions, v1alpha1.ConditionComplete), want.Phase)
	}
	r.emitUnreliable(b, have, want)
	before := meta.FindStatusCondition(have.Conditions, v1alpha1.ConditionNotRegressed)
	after := meta.FindStatusCondition(want.Conditions, v1alpha1.ConditionNotRegressed)
	if after != nil && (before == nil || before.Reason != after.Reason) {
		r.tellCondition(b, after, after.Reason)
	}
}

// emitUnreliable once, of figures that are not to be believed.
func (r *Reconciler) emitUnreliable(b *v1alpha1.PgBenchmark, have, want v1alpha1.PgBenchmarkStatus) {
	after := meta.FindStatusCondition(want.Conditions, v1alpha1.ConditionBelievable)
	if after != nil && after.Status == metav1.ConditionFalse && !meta.IsStatusConditionFalse(have.Conditions, v1alpha1.ConditionBelievable) {
		r.tellCondition(b, after, after.Reason)
	}
}

func (r *Reconciler) tellCondition(b *v1alpha1.PgBenchmark, c *metav1.Condition, reason string) {
	if c == nil {
		return
	}
	kind := corev1.EventTypeNormal
	if c.Status != metav1.ConditionTrue {
		kind = corev1.EventTypeWarning
	}
	r.Events.Eventf(b, nil, kind, reason, "Benchmark", "%s", c.Message)
}

// newFailures are the failed runs that one status has and another has not.
func newFailures(have, want *v1alpha1.MatrixStatus) []string {
	known := map[string]bool{}
	var all []string
	each := func(m *v1alpha1.MatrixStatus, see func(key, message string)) {
		if m == nil {
			return
		}
		for _, v := range m.Variants {
			for _, run := range v.Runs {
				if run.Reason != "" {
					key := fmt.Sprintf("round %d, %s", run.Repeat, v.Name)
					see(key, key+": "+run.Reason+": "+run.Message)
				}
			}
		}
	}
	each(have, func(key, _ string) { known[key] = true })
	each(want, func(key, message string) {
		if !known[key] {
			all = append(all, message)
		}
	})
	return all
}

// discard runs and clusters that were made for a matrix, each by the UID and version
// that was seen.
func (r *Reconciler) discard(ctx context.Context, runs []*v1alpha1.PgBenchmark, clusters []*v1alpha1.PgStorageCluster) error {
	if err := deleteAll(ctx, r, runs); err != nil {
		return err
	}
	return deleteAll(ctx, r, clusters)
}

func deleteAll[T client.Object](ctx context.Context, r *Reconciler, objects []T) error {
	for _, o := range objects {
		if err := r.delete(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// finalizeMatrix removes the runs and clusters of a deleted matrix. They go together:
// CloudNativePG lets go of a benchmark's database when its cluster goes.
func (r *Reconciler) finalizeMatrix(ctx context.Context, b *v1alpha1.PgBenchmark, facts observed.Matrix) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(b, naming.BenchmarkFinalizer) {
		return reconcile.Result{}, nil
	}
	runs, clusters := matrices.Own(b, facts)
	if len(runs)+len(clusters) == 0 {
		return reconcile.Result{}, apply.RemoveFinalizer(ctx, r.Client, b, naming.BenchmarkFinalizer)
	}
	message := "waits until the runs and clusters of the matrix are gone"
	if left := r.abandoned(b, facts); left != "" {
		message, clusters = left, nil
	}
	if err := r.discard(ctx, runs, clusters); err != nil {
		return reconcile.Result{}, err
	}
	waits := outcome.WaitFor(v1alpha1.ConditionCleanedUp, v1alpha1.ReasonDeleting, message)
	want := *b.Status.DeepCopy()
	want.Run = nil
	step := matrices.Decision{Status: want, Outcomes: []outcome.Outcome{waits}}
	return reconcile.Result{RequeueAfter: pollInterval}, r.record(ctx, b, step)
}
