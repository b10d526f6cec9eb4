package pgstoragebranch

import (
	"context"
	"maps"
	"slices"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers/foreign"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	c, err := ctrl.NewControllerManagedBy(mgr).
		Named("pgstoragebranch").
		For(&v1alpha1.PgStorageBranch{}, builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		Owns(&batchv1.Job{}).
		// The branch of a database, and the branches that wait for it.
		Watches(&v1alpha1.PgStorageCluster{}, handler.EnqueueRequestsFromMapFunc(r.concerned)).
		// A branch that waits for the deletion of another.
		Watches(&v1alpha1.PgStorageBranch{}, handler.EnqueueRequestsFromMapFunc(parent)).
		// The agents report the space of volumes, which the database does not repeat.
		Watches(&v1alpha1.PgNodeStorage{}, handler.EnqueueRequestsFromMapFunc(r.onNodeStorage), builder.WithPredicates(spaceChanged())).
		WithOptions(options).
		Build(reconcile.AsReconciler(mgr.GetClient(), r))
	if err != nil {
		return err
	}
	r.Watch = foreign.New(c, foreign.Watch{
		Kind:   &snapshotv1.VolumeSnapshot{},
		Served: func(apis observed.ForeignAPIs) bool { return apis.VolumeSnapshots },
		Source: source.Kind(mgr.GetCache(), &snapshotv1.VolumeSnapshot{}, handler.TypedEnqueueRequestsFromMapFunc(ofBranch)),
	}).Start
	return nil
}

// concerned are the branch that a PgStorageCluster is of, and those that wait for it as their
// source.
func (r *Reconciler) concerned(ctx context.Context, obj client.Object) []reconcile.Request {
	out := []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(obj)}}
	list := &v1alpha1.PgStorageBranchList{}
	if err := r.List(ctx, list, client.InNamespace(obj.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		return out
	}
	for i := range list.Items {
		b := &list.Items[i]
		if b.Spec.Source.Cluster == obj.GetName() && b.Status.Cluster == "" {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(b)})
		}
	}
	return out
}

// onNodeStorage wakes the branches that have volumes on a node.
func (r *Reconciler) onNodeStorage(ctx context.Context, obj client.Object) []reconcile.Request {
	s, ok := obj.(*v1alpha1.PgNodeStorage)
	list := &v1alpha1.PgStorageClusterList{}
	if !ok || r.List(ctx, list, client.MatchingFields{observe.ProfileIndex: s.Spec.Profile}, client.UnsafeDisableDeepCopy) != nil {
		return nil
	}
	here := func(v v1alpha1.VolumeStatus) bool { return v.Node == s.Spec.NodeName }
	var out []reconcile.Request
	for i := range list.Items {
		cr := &list.Items[i]
		if cr.Labels[naming.LabelBranch] == cr.Name && slices.ContainsFunc(cr.Status.Volumes, here) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(cr)})
		}
	}
	return out
}

// spaceChanged passes updates of the space that volumes take.
func spaceChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*v1alpha1.PgNodeStorage)
		after, also := e.ObjectNew.(*v1alpha1.PgNodeStorage)
		return !ok || !also || !maps.Equal(space(before), space(after))
	}}
}

// space maps each volume to the bytes that it and its snapshots take.
func space(s *v1alpha1.PgNodeStorage) map[string][2]int64 {
	out := map[string][2]int64{}
	for _, v := range s.Status.Volumes {
		out[v.Name] = [2]int64{amount(v.Used), amount(v.UsedBySnapshots)}
	}
	return out
}

// amount returns the bytes of a quantity, or -1 where it is unknown.
func amount(q *resource.Quantity) int64 {
	if q == nil {
		return -1
	}
	return q.Value()
}

// parent is the branch that another one is a branch of.
func parent(_ context.Context, obj client.Object) []reconcile.Request {
	b, ok := obj.(*v1alpha1.PgStorageBranch)
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: b.Namespace, Name: b.Spec.Source.Cluster}}}
}

func ofBranch(_ context.Context, s *snapshotv1.VolumeSnapshot) []reconcile.Request {
	name := s.Labels[naming.LabelBranch]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: s.Namespace, Name: name}}}
}
