package pgstorageprofile

import (
	"context"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

// cephWatches are started in the first pass over a profile of type CephRBD; those of
// foreign kinds once they are served.
func (r *Reconciler) cephWatches(c cache.Cache) []foreign.Watch {
	return []foreign.Watch{
		served(c, rook.CephClusterKind, r.inNamespace, rookServed), served(c, rook.CephBlockPoolKind, r.inNamespace, rookServed),
		served(c, observe.ZFSVolumeKind, r.onZvols, func(apis observed.ForeignAPIs) bool { return apis.ZFSLocalPV }),
		builtIn(c, &appsv1.Deployment{}, r.inNamespace), builtIn(c, &corev1.PersistentVolumeClaim{}, r.inNamespace),
		builtIn(c, &corev1.PersistentVolume{}, r.ofClass), builtIn(c, &storagev1.VolumeAttachment{}, r.ofDriver),
		builtIn(c, named(storagev1.SchemeGroupVersion.WithKind("CSIDriver")), r.onCeph),
	}
}

func rookServed(apis observed.ForeignAPIs) bool { return apis.Rook }

func served(c cache.Cache, kind schema.GroupVersionKind, wakes handler.MapFunc, when func(observed.ForeignAPIs) bool) foreign.Watch {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	w := builtIn(c, o, wakes)
	w.Served = when
	return w
}

func builtIn(c cache.Cache, kind client.Object, wakes handler.MapFunc) foreign.Watch {
	return foreign.Watch{
		Kind: kind, Served: func(observed.ForeignAPIs) bool { return true },
		Source: source.Kind(c, kind, handler.EnqueueRequestsFromMapFunc(wakes), predicate.Predicate(moved())),
	}
}

func named(kind schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(kind)
	return o
}

// moved passes updates of what the cache keeps of an object, which is what a pass reads.
func moved() predicate.Funcs {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.DeepCopyObject().(client.Object)
		after, also := e.ObjectNew.DeepCopyObject().(client.Object)
		if !ok || !also {
			return true
		}
		before.SetResourceVersion("")
		after.SetResourceVersion("")
		return !reflect.DeepEqual(before, after)
	}}
}

func (r *Reconciler) onCeph(ctx context.Context, _ client.Object) []reconcile.Request {
	return r.cephs(ctx, func(*v1alpha1.PgStorageProfile) bool { return true })
}

// onZvols wakes the profiles whose OSDs stand on zvols.
func (r *Reconciler) onZvols(ctx context.Context, _ client.Object) []reconcile.Request {
	return r.cephs(ctx, func(p *v1alpha1.PgStorageProfile) bool {
		return p.Spec.CephRBD.Cluster != nil && p.Spec.CephRBD.Cluster.Backing.ZFS != nil
	})
}

// inNamespace wakes the profiles whose CephCluster is in the object's namespace.
func (r *Reconciler) inNamespace(ctx context.Context, obj client.Object) []reconcile.Request {
	return r.cephs(ctx, func(p *v1alpha1.PgStorageProfile) bool { return p.Spec.CephRBD.Rook.Namespace == obj.GetNamespace() })
}

// ofClass wakes the profile whose class a PersistentVolume is of.
func (r *Reconciler) ofClass(ctx context.Context, obj client.Object) []reconcile.Request {
	volume, ok := obj.(*corev1.PersistentVolume)
	if !ok {
		return nil
	}
	class := volume.Spec.StorageClassName
	return r.cephs(ctx, func(p *v1alpha1.PgStorageProfile) bool {
		return class == naming.DataClass(p.Name) || class == naming.BlockClass(p.Name)
	})
}

func (r *Reconciler) ofDriver(ctx context.Context, obj client.Object) []reconcile.Request {
	attachment, ok := obj.(*storagev1.VolumeAttachment)
	if !ok {
		return nil
	}
	return r.cephs(ctx, func(p *v1alpha1.PgStorageProfile) bool { return naming.RBDDriver(p) == attachment.Spec.Attacher })
}

func (r *Reconciler) cephs(ctx context.Context, wanted func(*v1alpha1.PgStorageProfile) bool) []reconcile.Request {
	return r.profiles(ctx, func(p *v1alpha1.PgStorageProfile) bool { return p.Spec.CephRBD != nil && wanted(p) })
}
