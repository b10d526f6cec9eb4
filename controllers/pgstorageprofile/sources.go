package pgstorageprofile

import (
	"context"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers/foreign"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// watches returns the watches of every kind's sources. A pass over a profile of the kind
// starts them, those of foreign kinds once their CRDs exist.
func (r *Reconciler) watches(c controller.Controller, scheme *runtime.Scheme) map[v1alpha1.ProfileType]*foreign.Watches {
	out := map[v1alpha1.ProfileType]*foreign.Watches{}
	for _, kind := range r.Kinds {
		name := kind.Name()
		var all []foreign.Watch
		for _, s := range kind.Hooks().Sources {
			all = append(all, r.watch(r.Caches[observe.SourceGroup{Type: name, Group: s.Group}], name, s, observe.Prototype(scheme, s)))
		}
		out[name] = foreign.New(c, all...)
	}
	return out
}

func (r *Reconciler) watch(from cache.Cache, name v1alpha1.ProfileType, s profile.Source, object client.Object) foreign.Watch {
	wakes := func(ctx context.Context, o client.Object) []reconcile.Request {
		return r.profiles(ctx, func(p *v1alpha1.PgStorageProfile) bool { return p.Spec.Type == name && s.Wakes(p, o) })
	}
	return foreign.Watch{
		Kind: object, Served: s.Served,
		Source: source.Kind(from, object, handler.EnqueueRequestsFromMapFunc(wakes), predicate.Predicate(trimmedChanged())),
	}
}

// startWatches of a kind's sources that are served and not yet watched.
func (r *Reconciler) startWatches(kind profile.Type, apis observed.ForeignAPIs) error {
	if w := r.sources[kind.Name()]; w != nil {
		return w.Start(apis)
	}
	return nil
}

// trimmedChanged passes updates of what the cache keeps of an object, which is what a pass
// reads.
func trimmedChanged() predicate.Funcs {
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
