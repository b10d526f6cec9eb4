// Package verification verifies the backups of PgStorageClusters: observe, build, apply, prune,
// report. It writes status.backupVerification and no other part of the status.
package verification

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers/toolarge"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/kube/status"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/decide/verification"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgstorageclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgstorageclusters/status,verbs=patch
// +kubebuilder:rbac:groups=postgresql.cnpg.io,resources=clusters,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods;persistentvolumeclaims,verbs=list

var gvk = v1alpha1.GroupVersion.WithKind("PgStorageCluster")

// Reconciler verifies backups.
type Reconciler struct {
	client.Client
	Readers observe.Readers
	APIs    *observe.ForeignAPIs
	Config  clusters.Config
	Clock   clock.PassiveClock
	Events  events.EventRecorder
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("verification").
		For(&v1alpha1.PgStorageCluster{}, builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		Owns(&batchv1.Job{}).
		WithOptions(options).
		Complete(reconcile.AsReconciler(mgr.GetClient(), r))
}

// pass is what one reconcile of a database knows.
type pass struct {
	cr       *v1alpha1.PgStorageCluster
	facts    observed.Verification
	live     plan.Live
	decision verification.Decision
	// conflict is true where there is a newer version than the one that was read.
	conflict bool
}

// record is the part of the status that this controller owns.
type record struct {
	BackupVerification *v1alpha1.BackupVerificationStatus `json:"backupVerification,omitempty"`
}

// Reconcile the verification of one database's backups. Garbage collection deletes what it
// made of a deleted one.
func (r *Reconciler) Reconcile(ctx context.Context, cr *v1alpha1.PgStorageCluster) (reconcile.Result, error) {
	if !cr.DeletionTimestamp.IsZero() || toolarge.Skips(r.Events, cr) || clusters.Suspended(cr) || !verification.Concerns(cr) {
		return reconcile.Result{}, nil
	}
	p, err := r.observe(ctx, cr)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.next(ctx, p); err != nil {
		return reconcile.Result{}, err
	}
	if p.conflict {
		return reconcile.Result{RequeueAfter: apply.OutdatedDelay}, nil
	}
	return reconcile.Result{RequeueAfter: p.decision.After}, nil
}

// next step: decide, record, change. What the API server rejects ends the verification, which
// is another decision.
func (r *Reconciler) next(ctx context.Context, p *pass) error {
	if err := r.record(ctx, p); err != nil || p.conflict {
		return err
	}
	err := r.change(ctx, p)
	if p.conflict = apply.Outdated(err); p.conflict {
		return nil
	}
	if !apply.Rejected(err) {
		return err
	}
	p.facts.Refusal = err.Error()
	return r.record(ctx, p)
}

// observe the children of a verification that runs. Between two there are none.
func (r *Reconciler) observe(ctx context.Context, cr *v1alpha1.PgStorageCluster) (*pass, error) {
	p := &pass{cr: cr}
	if !verification.Running(cr) {
		return p, nil
	}
	apis, err := r.APIs.Get(ctx)
	if err != nil {
		return nil, err
	}
	p.facts, p.live, err = r.Readers.Verification(ctx, cr, apis)
	return p, err
}

// record the decision in the status, before anything is made or deleted that follows from it.
func (r *Reconciler) record(ctx context.Context, p *pass) (err error) {
	if p.decision, err = verification.Decide(p.cr, p.facts, r.Config, r.Clock.Now()); err != nil {
		return err
	}
	recorded, err := status.ApplyLocked(ctx, r.Client, naming.VerifyFieldOwner, p.cr, gvk, record{p.cr.Status.BackupVerification}, record{p.decision.Status})
	if p.conflict = apierrors.IsConflict(err); p.conflict {
		return nil
	}
	if recorded {
		r.report(p)
	}
	return err
}

// change what is there: make what is missing, or delete what was made.
func (r *Reconciler) change(ctx context.Context, p *pass) error {
	for _, o := range p.decision.Delete {
		if err := apply.Delete(ctx, r.Client, o); err != nil && !apierrors.IsConflict(err) {
			return err
		}
	}
	_, err := apply.Plan(ctx, r.Client, &p.decision.Plan, p.live)
	return err
}

func (r *Reconciler) report(p *pass) {
	for _, e := range p.decision.Events {
		r.Events.Eventf(p.cr, nil, e.Type, e.Reason, "Verify", "%s", e.Message)
	}
}
