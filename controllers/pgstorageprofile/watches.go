package pgstorageprofile

import (
	"context"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	c, err := ctrl.NewControllerManagedBy(mgr).
		Named("pgstorageprofile").
		// Its own status wakes it too. A pass that read the object before the cache had
		// the last status assumed that status was current, and skipped the write.
		For(&v1alpha1.PgStorageProfile{}, builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		Watches(&storagev1.StorageClass{}, handler.EnqueueRequestsFromMapFunc(r.all)).
		Watches(&v1alpha1.PgStorageCluster{}, handler.EnqueueRequestsFromMapFunc(used), builder.WithPredicates(usage())).
		Watches(&v1alpha1.PgNodeStorage{}, handler.EnqueueRequestsFromMapFunc(owner)).
		Watches(&appsv1.DaemonSet{}, handler.EnqueueRequestsFromMapFunc(owner), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(owner)).
		Watches(&v1alpha1.PgStorageProfile{}, handler.EnqueueRequestsFromMapFunc(r.peers), builder.WithPredicates(createdOrDeleted())).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(r.onNodes), builder.WithPredicates(predicate.Or(predicate.LabelChangedPredicate{}, readyChanged()))).
		Watches(&storagev1.CSINode{}, handler.EnqueueRequestsFromMapFunc(r.onNodes), builder.WithPredicates(driversChanged())).
		WithOptions(options).
		Build(reconcile.AsReconciler(mgr.GetClient(), r))
	if err != nil {
		return err
	}
	r.sources = r.watches(c, mgr.GetScheme())
	return nil
}

// usage sees clusters come, go, grow, and move between nodes: which profile a cluster
// uses is immutable.
func usage() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, _ := e.ObjectOld.(*v1alpha1.PgStorageCluster)
		after, _ := e.ObjectNew.(*v1alpha1.PgStorageCluster)
		return before == nil || after == nil || !reflect.DeepEqual(before.Status.Volumes, after.Status.Volumes) || !ptr.Equal(before.Spec.Instances, after.Spec.Instances)
	}}
}

// createdOrDeleted: what profiles conflict about is immutable.
func createdOrDeleted() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
}

// readyChanged sees a Node become Ready or not. Its heartbeats are updates too, which
// change nothing that the cache keeps.
func readyChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, _ := e.ObjectOld.(*corev1.Node)
		after, _ := e.ObjectNew.(*corev1.Node)
		return before == nil || after == nil || !reflect.DeepEqual(before.Status.Conditions, after.Status.Conditions)
	}}
}

func driversChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, _ := e.ObjectOld.(*storagev1.CSINode)
		after, _ := e.ObjectNew.(*storagev1.CSINode)
		return before == nil || after == nil || !reflect.DeepEqual(before.Spec.Drivers, after.Spec.Drivers)
	}}
}

func (r *Reconciler) all(ctx context.Context, _ client.Object) []reconcile.Request {
	return r.profiles(ctx, func(*v1alpha1.PgStorageProfile) bool { return true })
}

// peers wakes the profiles that may conflict with one that was created or deleted.
func (r *Reconciler) peers(ctx context.Context, obj client.Object) []reconcile.Request {
	changed, ok := obj.(*v1alpha1.PgStorageProfile)
	if !ok {
		return nil
	}
	kind, err := r.Kinds.For(changed.Spec.Type)
	if err != nil || !kind.Hooks().Peers {
		return nil
	}
	return r.profiles(ctx, func(p *v1alpha1.PgStorageProfile) bool { return p.Spec.Type == changed.Spec.Type })
}

// onNodes wakes the profiles that choose nodes.
func (r *Reconciler) onNodes(ctx context.Context, _ client.Object) []reconcile.Request {
	return r.profiles(ctx, func(p *v1alpha1.PgStorageProfile) bool { return len(p.Spec.NodeSelector) > 0 })
}

func (r *Reconciler) profiles(ctx context.Context, wanted func(*v1alpha1.PgStorageProfile) bool) []reconcile.Request {
	list := &v1alpha1.PgStorageProfileList{}
	if err := r.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		if wanted(&list.Items[i]) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}

func used(_ context.Context, obj client.Object) []reconcile.Request {
	cluster, ok := obj.(*v1alpha1.PgStorageCluster)
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: cluster.Spec.Profile}}}
}

func owner(_ context.Context, obj client.Object) []reconcile.Request {
	name := obj.GetLabels()[naming.LabelProfile]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: name}}}
}
