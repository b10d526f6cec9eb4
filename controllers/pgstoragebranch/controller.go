// Package pgstoragebranch reconciles PgStorageBranches: observe, decide, make, record,
// remove. For each it makes VolumeSnapshots of the source, a PgStorageCluster of them, and a Job that masks
// its data.
package pgstoragebranch

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers/toolarge"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/kube/status"
	"github.com/pgstorage/pgstorage/internal/operator/decide/branches"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// The rights to make and delete branches are in config/branches, for those who switch on
// Branches. Those to read them are in the role of the manager.

var gvk = v1alpha1.GroupVersion.WithKind("PgStorageBranch")

// Reconciler reconciles PgStorageBranches.
type Reconciler struct {
	client.Client
	Readers observe.Readers
	APIs    *observe.ForeignAPIs
	Kinds   profile.Catalog
	Config  clusters.Config
	Clock   clock.PassiveClock
	Events  events.EventRecorder
	// Watch starts the watches of foreign kinds once their CRDs exist.
	Watch func(observed.ForeignAPIs) error
}

// pass is what one reconcile of a branch knows.
type pass struct {
	b        *v1alpha1.PgStorageBranch
	facts    observed.Branch
	live     plan.Live
	decision branches.Decision
	// conflict is true where there is a newer version than the one that was read.
	conflict bool
}

// Reconcile one branch. While the feature is off, none is touched, and a deletion waits.
func (r *Reconciler) Reconcile(ctx context.Context, b *v1alpha1.PgStorageBranch) (reconcile.Result, error) {
	if toolarge.Skips(r.Events, b) {
		return reconcile.Result{}, nil
	}
	if !r.Config.Branches {
		return reconcile.Result{}, r.off(ctx, b)
	}
	if !b.DeletionTimestamp.IsZero() && !controllerutil.ContainsFinalizer(b, naming.BranchFinalizer) {
		return reconcile.Result{}, nil
	}
	if b.DeletionTimestamp.IsZero() {
		if err := apply.AddFinalizer(ctx, r.Client, b, naming.BranchFinalizer); err != nil {
			return reconcile.Result{}, err
		}
	}
	p, err := r.observe(ctx, b)
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

// off reports that the feature is.
func (r *Reconciler) off(ctx context.Context, b *v1alpha1.PgStorageBranch) error {
	if !b.DeletionTimestamp.IsZero() {
		return nil
	}
	p := &pass{b: b}
	if err := r.decide(p); err != nil {
		return err
	}
	return r.record(ctx, p)
}

func (r *Reconciler) observe(ctx context.Context, b *v1alpha1.PgStorageBranch) (*pass, error) {
	apis, err := r.APIs.Get(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.Watch(apis); err != nil {
		return nil, err
	}
	facts, live, err := r.Readers.Branch(ctx, b, apis)
	return &pass{b: b, facts: facts, live: live}, err
}

// next step: decide, make, record, remove. What the API server rejects is another decision,
// and the status is written once: a status that changed with each attempt would wake the next.
func (r *Reconciler) next(ctx context.Context, p *pass) error {
	if err := r.decide(p); err != nil {
		return err
	}
	err := r.make(ctx, p)
	if apply.Rejected(err) {
		p.facts.Refusal = err.Error()
		err = r.decide(p)
	}
	if p.conflict = apply.Outdated(err); p.conflict {
		return nil
	}
	if err != nil {
		return err
	}
	if err := r.record(ctx, p); err != nil || p.conflict {
		return err
	}
	return r.remove(ctx, p)
}

func (r *Reconciler) decide(p *pass) (err error) {
	p.decision, err = branches.Decide(p.b, p.facts, r.Kinds, r.Config, r.Clock.Now())
	return err
}

// record the decision in the status, before anything is deleted that follows from it.
func (r *Reconciler) record(ctx context.Context, p *pass) (err error) {
	want := p.decision.Status
	want.Conditions = status.Conditions(p.b.Status.Conditions, p.b.Generation, metav1.NewTime(r.Clock.Now()).Rfc3339Copy(), p.decision.Outcomes)
	recorded := false
	if !p.decision.Released {
		recorded, err = status.ApplyLocked(ctx, r.Client, naming.FieldOwner, p.b, gvk, p.b.Status, want)
	}
	if p.conflict = apierrors.IsConflict(err); p.conflict {
		return nil
	}
	if recorded {
		r.report(p)
	}
	return err
}

func (r *Reconciler) report(p *pass) {
	for _, e := range p.decision.Events {
		r.Events.Eventf(p.b, nil, e.Type, e.Reason, "Branch", "%s", e.Message)
	}
}
