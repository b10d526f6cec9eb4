// Package pgscheduledbenchmark reconciles PgScheduledBenchmarks: it makes a PgBenchmark
// at each time of a schedule, and removes those that are no longer kept.
package pgscheduledbenchmark

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers/toolarge"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/status"
	"github.com/pgstorage/pgstorage/internal/operator/decide/schedules"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
)

// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgscheduledbenchmarks,verbs=get;list;watch
// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgscheduledbenchmarks/status,verbs=patch
// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgbenchmarks,verbs=get;list;watch;create;delete

// retry is when a pass is repeated that met a newer version than it had read.
const conflictDelay = time.Second

var gvk = v1alpha1.GroupVersion.WithKind("PgScheduledBenchmark")

// Reconciler reconciles PgScheduledBenchmarks.
type Reconciler struct {
	client.Client
	// Live reads past the cache.
	Live    client.Reader
	Readers observe.Readers
	Clock   clock.PassiveClock
	Events  events.EventRecorder
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("pgscheduledbenchmark").
		For(&v1alpha1.PgScheduledBenchmark{}).
		Owns(&v1alpha1.PgBenchmark{}).
		WithOptions(options).
		Complete(reconcile.AsReconciler(mgr.GetClient(), r))
}

// Reconcile one schedule. Its runs go with it by garbage collection.
func (r *Reconciler) Reconcile(ctx context.Context, s *v1alpha1.PgScheduledBenchmark) (reconcile.Result, error) {
	if !s.DeletionTimestamp.IsZero() || toolarge.Skips(r.Events, s) {
		return reconcile.Result{}, nil
	}
	facts, err := r.Readers.Schedule(ctx, s)
	if err != nil {
		return reconcile.Result{}, err
	}
	now := r.Clock.Now()
	step := schedules.Decide(s, facts, now)
	if facts.Refusal, err = r.create(ctx, s, step.Create); err != nil {
		return reconcile.Result{}, err
	}
	if facts.Refusal != "" {
		step = schedules.Decide(s, facts, now)
	}
	err = r.record(ctx, s, step, metav1.NewTime(now).Rfc3339Copy())
	if apierrors.IsConflict(err) {
		// A newer version is on its way to the cache.
		return reconcile.Result{RequeueAfter: conflictDelay}, nil
	}
	return reconcile.Result{RequeueAfter: step.After}, err
}

// create a run, and say why the API server will not have it. One that is there already
// was made by a pass that came no further.
func (r *Reconciler) create(ctx context.Context, s *v1alpha1.PgScheduledBenchmark, b *v1alpha1.PgBenchmark) (refusal string, err error) {
	if b == nil {
		return "", nil
	}
	err = r.Create(ctx, b.DeepCopy(), client.FieldOwner(naming.FieldOwner))
	switch {
	case apierrors.IsAlreadyExists(err):
		return r.foreign(ctx, s, b)
	case apply.Rejected(err):
		return err.Error(), nil
	case err != nil:
		return "", fmt.Errorf("create PgBenchmark %s: %w", b.Name, err)
	}
	return "", nil
}

// foreign says that what has the name of a run is not this schedule's. It asks past the
// cache, which may not have it yet.
func (r *Reconciler) foreign(ctx context.Context, s *v1alpha1.PgScheduledBenchmark, b *v1alpha1.PgBenchmark) (refusal string, err error) {
	there := &v1alpha1.PgBenchmark{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(b), there); err != nil {
		return "", fmt.Errorf("read PgBenchmark %s: %w", b.Name, err)
	}
	if metav1.IsControlledBy(there, s) {
		return "", nil
	}
	return fmt.Sprintf("PgBenchmark %s exists and was not made by this schedule; delete or rename it", b.Name), nil
}

// record the status of a step, then carry out and tell what follows from it.
func (r *Reconciler) record(ctx context.Context, s *v1alpha1.PgScheduledBenchmark, step schedules.Decision, now metav1.Time) error {
	want := step.Status
	want.Conditions = status.Conditions(s.Status.Conditions, s.Generation, now, step.Outcomes)
	wrote, err := status.ApplyLocked(ctx, r.Client, naming.FieldOwner, s, gvk, s.Status, want)
	if err != nil {
		return err
	}
	if wrote {
		for _, e := range step.Events {
			r.Events.Eventf(s, nil, e.Type, e.Reason, "Schedule", "%s", e.Message)
		}
	}
	for _, b := range step.Prune {
		if err := apply.Delete(ctx, r.Client, b); err != nil {
			return err
		}
		r.Events.Eventf(s, nil, corev1.EventTypeNormal, schedules.EventPruned, "Schedule", "PgBenchmark %s is beyond the history limits", b.Name)
	}
	return nil
}
