package pgstorageprofile

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/status"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// report writes the status: the fields of the profile's kind as it built them, and those
// that all kinds have.
func (r *Reconciler) report(ctx context.Context, work *pass, built profile.Built) error {
	p := work.profile
	count := int32(len(work.users)) //nolint:gosec // a cluster cannot hold 2^31 objects
	want := built.Status
	want.ObservedGeneration, want.Clusters = p.Generation, &count
	want.Conditions = status.Conditions(p.Status.Conditions, p.Generation, metav1.NewTime(r.Clock.Now()), built.Outcomes)
	want.StorageClasses = nil
	var abandoned []v1alpha1.PoolGUID
	if work.kind != nil {
		want.StorageClasses = observe.ObservedClasses(work.kind.Classes(p), work.facts.Classes)
		if of := work.kind.Hooks().AbandonedGUIDs; of != nil {
			abandoned = of(p)
		}
	}
	var dropped []string
	if want.Pools, dropped = profile.Pools(p, abandoned, work.facts.Storages); len(dropped) > 0 {
		r.Events.Eventf(p, nil, corev1.EventTypeWarning, "PoolRecordFull", "Record", "status.pools records at most %d nodes, and %d are left out, the first %s. Only the record on the node itself keeps their pools from being made again; use a profile for each group of nodes", profile.MaxPools, len(dropped), dropped[0])
	}
	_, err := status.Apply(ctx, r.Client, naming.FieldOwner, p, v1alpha1.GroupVersion.WithKind("PgStorageProfile"), p.Status, want)
	return err
}

// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgnodestorages/status,verbs=patch

// reportReachable writes on each PgNodeStorage whether its Node is Ready: the agent of a
// node that is off cannot. The rest of the status is the agent's.
func (r *Reconciler) reportReachable(ctx context.Context, work *pass) error {
	now := metav1.NewTime(r.Clock.Now())
	for _, s := range work.facts.Storages {
		node := s.Spec.NodeName
		var have v1alpha1.PgNodeStorageStatus
		if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionNodeReachable); c != nil {
			have.Conditions = []metav1.Condition{*c}
		}
		want := v1alpha1.PgNodeStorageStatus{Conditions: []metav1.Condition{
			status.Condition(have.Conditions, now, work.facts.Reachable[node].Outcome(node)),
		}}
		_, err := status.Apply(ctx, r.Client, naming.FieldOwner, s, v1alpha1.GroupVersion.WithKind("PgNodeStorage"), have, want)
		if client.IgnoreNotFound(err) != nil { // this pass may have deleted it
			return err
		}
	}
	return nil
}
