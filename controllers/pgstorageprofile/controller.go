// Package pgstorageprofile reconciles PgStorageProfiles: it makes what a profile
// needs, checks that it exists, and holds a profile while clusters use it.
package pgstorageprofile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/kube/status"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
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

// Servers of S3NBD profiles run in the operator's own namespace: the right to them is
// a Role there, config/rbac/servers.yaml.

// recheck is how long until facts are read again that no watch covers.
const recheck = 15 * time.Second

// Reconciler reconciles PgStorageProfiles.
type Reconciler struct {
	client.Client
	Readers observe.Readers
	APIs    *observe.ForeignAPIs
	// Operator is where servers of profiles run, and the image of their supervisor.
	Operator observed.Operator
	Clock    clock.PassiveClock
	Events   events.EventRecorder
	// S3NBD and CephRBD offer profiles of these types, which are experimental.
	S3NBD, CephRBD bool
	// Ceph is the cache that Readers read Ceph clusters from, and Watch starts its
	// watches once what they are of is served.
	Ceph  cache.Cache
	Watch func(observed.ForeignAPIs) error
}

// pass is what one reconcile works on.
type pass struct {
	profile *v1alpha1.PgStorageProfile
	users   []string
	kind    profile.Type
	facts   observed.Profile
	live    plan.Live
}

// Reconcile one profile.
func (r *Reconciler) Reconcile(ctx context.Context, p *v1alpha1.PgStorageProfile) (reconcile.Result, error) {
	work, err := r.observe(ctx, p)
	if err != nil {
		return reconcile.Result{}, err
	}
	if work.kind == nil {
		_, err := catalog.For(p.Spec.Type)
		invalid := outcome.InvalidBecause(v1alpha1.ConditionStorageReady, v1alpha1.ReasonInvalidSpec, err.Error())
		return reconcile.Result{}, r.report(ctx, work, profile.Built{Outcomes: []outcome.Outcome{invalid}})
	}
	result, err := r.act(ctx, work)
	if err = errors.Join(err, r.tellReachable(ctx, work)); err != nil {
		return reconcile.Result{}, err
	}
	return result, nil
}

// act as the profile asks, or let it go.
func (r *Reconciler) act(ctx context.Context, work *pass) (reconcile.Result, error) {
	if !work.profile.DeletionTimestamp.IsZero() {
		return r.finalize(ctx, work)
	}
	if !r.offers(work.profile.Spec.Type) {
		return reconcile.Result{}, r.report(ctx, work, withheld(work.profile))
	}
	if err := apply.AddFinalizer(ctx, r.Client, work.profile, naming.ProfileFinalizer); err != nil {
		return reconcile.Result{}, err
	}
	built, err := work.kind.Build(work.profile, work.facts)
	if err != nil {
		return reconcile.Result{}, err
	}
	return r.carryOut(ctx, work, built)
}

// offers says whether a type may be used: experimental ones have to be asked for.
func (r *Reconciler) offers(t v1alpha1.ProfileType) bool {
	switch t {
	case v1alpha1.ProfileTypeS3NBD:
		return r.S3NBD
	case v1alpha1.ProfileTypeCephRBD:
		return r.CephRBD
	}
	return true
}

// withheld says that a type is not offered. What was made while it was stays as it is.
func withheld(p *v1alpha1.PgStorageProfile) profile.Built {
	o := outcome.InvalidBecause(v1alpha1.ConditionStorageReady, v1alpha1.ReasonInvalidSpec,
		fmt.Sprintf("spec.type: %[1]s is alpha; to try it, start the manager with --feature-gates=%[1]s=true, or use another type", p.Spec.Type))
	return profile.Kept(p, o)
}

func (r *Reconciler) observe(ctx context.Context, p *v1alpha1.PgStorageProfile) (*pass, error) {
	work := &pass{profile: p}
	var err error
	if work.users, err = observe.ClustersOf(ctx, r.Client, p.Name); err != nil {
		return nil, err
	}
	if work.kind, err = catalog.For(p.Spec.Type); err != nil {
		return work, nil //nolint:nilerr // the caller reports it; retrying does not help
	}
	apis, err := r.APIs.Get(ctx)
	if err != nil {
		return nil, err
	}
	if work.facts, work.live, err = r.Readers.Profile(ctx, p, apis, r.Operator, work.kind.Classes(p)); err != nil {
		return nil, err
	}
	return work, r.observeCeph(ctx, work, apis)
}

// carryOut applies what was built and reports. What the API server refuses for
// good is reported, not tried again and again.
func (r *Reconciler) carryOut(ctx context.Context, work *pass, built profile.Built) (reconcile.Result, error) {
	_, applyErr := apply.Plan(ctx, r.Client, &built.Plan, work.live)
	if applyErr == nil {
		applyErr = r.prune(ctx, work)
	}
	if apply.Rejected(applyErr) {
		built.Outcomes = append(built.Outcomes, outcome.InvalidBecause(v1alpha1.ConditionStorageReady, v1alpha1.ReasonRejected, applyErr.Error()))
		applyErr = nil
	}
	if err := r.report(ctx, work, built); err != nil {
		return reconcile.Result{}, err
	}
	if slices.ContainsFunc(built.Outcomes, unwatched) {
		return reconcile.Result{RequeueAfter: recheck}, applyErr
	}
	return reconcile.Result{}, applyErr
}

// unwatched says whether no watch covers the end of what an outcome is about: CRDs that
// are missing, and what zfs-localpv lists.
func unwatched(o outcome.Outcome) bool {
	switch o.Reason {
	case v1alpha1.ReasonRejected, v1alpha1.ReasonRookNotInstalled:
		return true
	}
	return o.Condition == v1alpha1.ConditionDriverReady && o.Kind != outcome.Done
}

// prune deletes the PgNodeStorages of nodes that are gone, or that the profile no
// longer selects and that hold no volumes. Their agents destroy nothing.
func (r *Reconciler) prune(ctx context.Context, work *pass) error {
	nodes := map[string]bool{}
	for _, n := range work.facts.Nodes {
		nodes[n.Name] = true
	}
	for _, s := range work.facts.Storages {
		if nodes[s.Spec.NodeName] {
			continue
		}
		if err := r.letGo(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reconciler) report(ctx context.Context, work *pass, built profile.Built) error {
	p := work.profile
	count := int32(len(work.users)) //nolint:gosec // a cluster cannot hold 2^31 objects
	want := v1alpha1.PgStorageProfileStatus{
		ObservedGeneration: p.Generation,
		Clusters:           &count,
		Nodes:              built.Nodes,
		FlushLatency:       built.FlushLatency,
		Ceph:               built.Ceph,

		EstimatedMonthlyStorage: built.MonthlyStorage,
		Conditions:              status.Conditions(p.Status.Conditions, p.Generation, metav1.NewTime(r.Clock.Now()), built.Outcomes),
	}
	if work.kind != nil {
		want.StorageClasses = observe.ObservedClasses(work.kind.Classes(p), work.facts.Classes)
	}
	var dropped []string
	if want.Pools, dropped = profile.Pools(p, work.facts.Storages); len(dropped) > 0 {
		r.Events.Eventf(p, nil, corev1.EventTypeWarning, "PoolRecordFull", "Record", "status.pools records at most %d nodes, and %d are left out, the first %s: only the record on the node itself keeps their pools from being made again; use a profile for each group of nodes", profile.MaxPools, len(dropped), dropped[0])
	}
	_, err := status.Apply(ctx, r.Client, naming.FieldOwner, p, v1alpha1.GroupVersion.WithKind("PgStorageProfile"), p.Status, want)
	return err
}
