// Package pgscheduledbenchmark reconciles PgScheduledBenchmarks: observe, build, apply,
// prune, report. It creates a PgBenchmark at each time of a schedule and deletes those
// beyond the history limits.
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
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgscheduledbenchmarks,verbs=get;list;watch
// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgscheduledbenchmarks/status,verbs=patch
// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgbenchmarks,verbs=get;list;watch;create;delete

var gvk = v1alpha1.GroupVersion.WithKind("PgScheduledBenchmark")

// Reconciler reconciles PgScheduledBenchmarks.
type Reconciler struct {
	client.Client
	// Live reads from the API server, not from the cache.
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

// pass is what one reconcile of a schedule knows.
type pass struct {
	s        *v1alpha1.PgScheduledBenchmark
	facts    observed.Schedule
	now      time.Time
	decision schedules.Decision
	// recorded is true where the status was written.
	recorded bool
	pruned   []*v1alpha1.PgBenchmark
	// failure of a write, which report returns after it emitted the events.
	failure error
}

// Reconcile one schedule. Garbage collection deletes the PgBenchmarks of a deleted one.
func (r *Reconciler) Reconcile(ctx context.Context, s *v1alpha1.PgScheduledBenchmark) (reconcile.Result, error) {
	if !s.DeletionTimestamp.IsZero() || toolarge.Skips(r.Events, s) {
		return reconcile.Result{}, nil
	}
	p, err := r.observe(ctx, s)
	if err != nil {
		return reconcile.Result{}, err
	}
	r.build(p)
	if err := r.apply(ctx, p); err != nil {
		return reconcile.Result{}, err
	}
	r.prune(ctx, p)
	return r.report(p)
}

func (r *Reconciler) observe(ctx context.Context, s *v1alpha1.PgScheduledBenchmark) (*pass, error) {
	facts, err := r.Readers.Schedule(ctx, s)
	return &pass{s: s, facts: facts, now: r.Clock.Now()}, err
}

func (r *Reconciler) build(p *pass) { p.decision = schedules.Decide(p.s, p.facts, p.now) }

// apply creates the PgBenchmark that is due, then writes the status. The status is the
// record of the runs, so it is written before prune deletes any. Where the API server
// rejects the PgBenchmark, the time is skipped, which is another decision.
func (r *Reconciler) apply(ctx context.Context, p *pass) (err error) {
	if p.facts.Refusal, err = r.create(ctx, p.s, p.decision.Create); err != nil {
		return err
	}
	if p.facts.Refusal != "" {
		r.build(p)
	}
	want := p.decision.Status
	want.Conditions = status.Conditions(p.s.Status.Conditions, p.s.Generation, metav1.NewTime(p.now).Rfc3339Copy(), p.decision.Outcomes)
	p.recorded, p.failure = status.ApplyLocked(ctx, r.Client, naming.FieldOwner, p.s, gvk, p.s.Status, want)
	return nil
}

// prune deletes the PgBenchmarks beyond the history limits.
func (r *Reconciler) prune(ctx context.Context, p *pass) {
	for _, b := range p.decision.Prune {
		if p.failure != nil {
			return
		}
		if p.failure = apply.Delete(ctx, r.Client, b); p.failure == nil {
			p.pruned = append(p.pruned, b)
		}
	}
}

// report emits the events of what was recorded and pruned.
func (r *Reconciler) report(p *pass) (reconcile.Result, error) {
	if p.recorded {
		for _, e := range p.decision.Events {
			r.Events.Eventf(p.s, nil, e.Type, e.Reason, "Schedule", "%s", e.Message)
		}
	}
	for _, b := range p.pruned {
		r.Events.Eventf(p.s, nil, corev1.EventTypeNormal, schedules.EventPruned, "Schedule", "PgBenchmark %s is beyond the history limits", b.Name)
	}
	if apierrors.IsConflict(p.failure) {
		return reconcile.Result{RequeueAfter: apply.OutdatedDelay}, nil
	}
	return reconcile.Result{RequeueAfter: p.decision.After}, p.failure
}

// create creates a PgBenchmark. It returns why the API server rejects it, or "". One that
// exists already was created by a reconcile that was interrupted.
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

// foreign returns why an existing PgBenchmark is not this schedule's, or "". The cache may
// not have it yet, so it reads from the API server.
func (r *Reconciler) foreign(ctx context.Context, s *v1alpha1.PgScheduledBenchmark, b *v1alpha1.PgBenchmark) (refusal string, err error) {
	there := &v1alpha1.PgBenchmark{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(b), there); err != nil {
		return "", fmt.Errorf("read PgBenchmark %s: %w", b.Name, err)
	}
	if metav1.IsControlledBy(there, s) {
		return "", nil
	}
	return fmt.Sprintf("PgBenchmark %s exists and was not created by this schedule; delete or rename it", b.Name), nil
}
