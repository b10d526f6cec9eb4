// Package pgstorageprofile reconciles PgStorageProfiles: it creates what a profile
// needs, checks that it exists, and keeps a profile while clusters use it. It names no
// kind of storage: what differs between them is behind profile.Type.
package pgstorageprofile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers/foreign"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgstorageprofiles,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgstorageprofiles/status,verbs=patch
// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgnodestorages,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=storage.k8s.io,resources=storageclasses,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=storage.k8s.io,resources=csinodes,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=persistentvolumes,verbs=list
// +kubebuilder:rbac:groups=zfs.openebs.io,resources=zfsnodes,verbs=list
// +kubebuilder:rbac:groups=snapshot.storage.k8s.io,resources=volumesnapshotclasses,verbs=get;create;patch;delete
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=zfsvolumes.zfs.openebs.io;volumesnapshotclasses.snapshot.storage.k8s.io,verbs=get

// Rights that one kind of storage needs are declared in its own package. Servers of
// profiles run in the operator's own namespace: the right to them is a Role there,
// config/rbac/servers.yaml.

// pollInterval is how long until facts are read again that no watch covers.
const pollInterval = 15 * time.Second

// Reconciler reconciles PgStorageProfiles.
type Reconciler struct {
	client.Client
	Readers observe.Readers
	APIs    *observe.ForeignAPIs
	// Operator is where servers of profiles run, and the image of their supervisor.
	Operator observed.Operator
	Clock    clock.PassiveClock
	Events   events.EventRecorder
	// Kinds of storage, and those among the alpha ones that are enabled.
	Kinds   profile.Catalog
	Enabled map[v1alpha1.ProfileType]bool
	// Caches are those that Readers read the sources of a kind from.
	Caches map[observe.SourceGroup]cache.Cache

	sources map[v1alpha1.ProfileType]*foreign.Watches
}

// pass is what one reconcile works on.
type pass struct {
	profile *v1alpha1.PgStorageProfile
	users   []string
	kind    profile.Type
	facts   observed.Profile
	live    plan.Live
}

// Reconcile one profile: observe, build, apply, prune, report. What the API server rejects
// for good is reported and not retried.
func (r *Reconciler) Reconcile(ctx context.Context, p *v1alpha1.PgStorageProfile) (reconcile.Result, error) {
	work, err := r.observe(ctx, p)
	if err != nil {
		return reconcile.Result{}, err
	}
	if work.kind != nil && !p.DeletionTimestamp.IsZero() {
		result, err := r.finalize(ctx, work)
		return result, errors.Join(err, r.reportReachable(ctx, work))
	}
	built, err := r.build(ctx, work)
	if err != nil {
		return reconcile.Result{}, errors.Join(err, r.reportReachable(ctx, work))
	}
	applyErr := r.apply(ctx, work, built)
	if applyErr == nil {
		applyErr = r.prune(ctx, work)
	}
	return r.settle(ctx, work, built, applyErr)
}

// settle reports what was built, and returns when to reconcile again.
func (r *Reconciler) settle(ctx context.Context, work *pass, built profile.Built, applyErr error) (reconcile.Result, error) {
	result := reconcile.Result{}
	switch {
	case apply.Rejected(applyErr):
		built.Outcomes = append(built.Outcomes, outcome.InvalidBecause(v1alpha1.ConditionStorageReady, v1alpha1.ReasonRejected, applyErr.Error()))
		built.Unwatched, applyErr = true, nil
	case apply.Outdated(applyErr):
		result.RequeueAfter, applyErr = apply.OutdatedDelay, nil
	}
	if err := errors.Join(applyErr, r.report(ctx, work, built), r.reportReachable(ctx, work)); err != nil {
		return reconcile.Result{}, err
	}
	if built.Unwatched && result.RequeueAfter == 0 {
		result.RequeueAfter = pollInterval
	}
	return result, nil
}

func (r *Reconciler) observe(ctx context.Context, p *v1alpha1.PgStorageProfile) (*pass, error) {
	work := &pass{profile: p}
	var err error
	if work.users, err = observe.ClustersOf(ctx, r.Client, p.Name); err != nil {
		return nil, err
	}
	if work.kind, err = r.Kinds.For(p.Spec.Type); err != nil {
		return work, nil //nolint:nilerr // build reports it; retrying does not help
	}
	apis, err := r.APIs.Get(ctx)
	if err != nil {
		return nil, err
	}
	if work.facts, work.live, err = r.Readers.Profile(ctx, p, work.kind, apis, r.Operator); err != nil {
		return nil, err
	}
	// The sources of a kind that is disabled are read only to delete a profile.
	if !r.enabled(work.kind) && p.DeletionTimestamp.IsZero() {
		return work, nil
	}
	if err := r.startWatches(work.kind, apis); err != nil {
		return nil, fmt.Errorf("watch the sources of profiles of type %s: %w", p.Spec.Type, err)
	}
	return work, r.Readers.Sources(ctx, p, work.kind, &work.facts, work.live)
}

// enabled reports whether a kind may be used: alpha ones are off by default.
func (r *Reconciler) enabled(kind profile.Type) bool {
	return kind.Hooks().Alpha == "" || r.Enabled[kind.Name()]
}

// build what the profile wants. A profile whose type is unknown or disabled wants nothing,
// and what it created before stays.
func (r *Reconciler) build(ctx context.Context, work *pass) (profile.Built, error) {
	if work.kind == nil {
		_, err := r.Kinds.For(work.profile.Spec.Type)
		return profile.Built{Outcomes: []outcome.Outcome{unknownType(err)}}, nil
	}
	if !r.enabled(work.kind) {
		return profile.Keep(work.profile, disabledType(work.profile)), nil
	}
	if err := apply.AddFinalizer(ctx, r.Client, work.profile, naming.ProfileFinalizer); err != nil {
		return profile.Built{}, err
	}
	return work.kind.Build(work.profile, work.facts)
}

func (r *Reconciler) apply(ctx context.Context, work *pass, built profile.Built) error {
	if len(built.Plan.Objects) == 0 {
		return nil
	}
	_, err := apply.Plan(ctx, r.Client, &built.Plan, work.live)
	return err
}

// prune deletes the PgNodeStorages of nodes that no longer exist, or that the profile no
// longer selects and that hold no volumes. Their agents destroy nothing.
func (r *Reconciler) prune(ctx context.Context, work *pass) error {
	if work.kind == nil || !r.enabled(work.kind) {
		return nil
	}
	nodes := map[string]bool{}
	for _, n := range work.facts.Nodes {
		nodes[n.Name] = true
	}
	for _, s := range work.facts.Storages {
		if nodes[s.Spec.NodeName] {
			continue
		}
		gone, err := r.Readers.NodeGone(ctx, s.Spec.NodeName)
		if err != nil {
			return err
		}
		if !gone && work.facts.Reachable[s.Spec.NodeName].Gone {
			continue // only the cache lacks the Node, so whether it is selected is unknown
		}
		if err := r.deleteStorage(ctx, s, gone); err != nil {
			return err
		}
	}
	return nil
}
