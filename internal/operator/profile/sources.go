package profile

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Object is any object of the API server.
type Object interface {
	metav1.Object
	runtime.Object
}

// Source declares a kind of object that a profile reads and that others may have created.
// From it the manager caches, watches and lists the objects, starting with the first pass
// over a profile of the kind. They are of their Go type where the scheme has one, else
// unstructured.
type Source struct {
	Kind schema.GroupVersionKind
	// Metadata reads no more than the metadata, as PartialObjectMetadata.
	Metadata bool
	// CRDs must all exist before the manager reads objects of the kind. None: the kind is
	// built in.
	CRDs []string
	// Group is the cache that the objects are in. Sources of one kind with different
	// selectors need different groups.
	Group string
	// Selector of the labels of the objects to cache. Empty: all objects.
	Selector string
	// Trim removes from an object what the profile does not read, and above all what
	// changes while the storage is idle. It must keep name and resourceVersion. nil: the
	// manager removes managed fields only.
	Trim func(o Object) (Object, error)
	// Namespace of the objects that a profile reads. nil: all namespaces.
	Namespace func(p *v1alpha1.PgStorageProfile) string
	// Concerns reports whether a change of the object wakes the profile. nil: always.
	Concerns func(p *v1alpha1.PgStorageProfile, o Object) bool
	// Created means that the profile creates objects of the kind; those with its UID in
	// their label are updated and deleted by it.
	Created bool
	// Guards means that Teardown decides by objects of the kind. The controller lists them
	// from the API server before it deletes anything, because a cache may lag.
	Guards bool
}

// Served reports whether the manager can read the source.
func (s Source) Served(apis observed.ForeignAPIs) bool { return apis.Has(s.CRDs...) }

// Wakes reports whether a change of an object concerns the profile.
func (s Source) Wakes(p *v1alpha1.PgStorageProfile, o Object) bool {
	return s.Concerns == nil || s.Concerns(p, o)
}

// Objects are what was read of a profile's sources, and all Nodes. They come from the
// cache: callers must not change them.
type Objects struct {
	Nodes  []corev1.Node
	byKind map[schema.GroupVersionKind][]Object
}

// Add objects of a kind.
func (o *Objects) Add(kind schema.GroupVersionKind, objects ...Object) {
	if o.byKind == nil {
		o.byKind = map[schema.GroupVersionKind][]Object{}
	}
	o.byKind[kind] = append(o.byKind[kind], objects...)
}

// List returns the objects of a kind that have the type T.
func List[T Object](o Objects, kind schema.GroupVersionKind) []T {
	var out []T
	for _, object := range o.byKind[kind] {
		if typed, ok := object.(T); ok {
			out = append(out, typed)
		}
	}
	return out
}

// maxLabels of an object that a cache keeps. Their names and values are short.
const maxLabels = 64

// TrimLabels returns the labels as they are, or the first 64 by name where there are more.
func TrimLabels(all map[string]string) map[string]string {
	if len(all) <= maxLabels {
		return all
	}
	kept := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(all))[:maxLabels] {
		kept[name] = all[name]
	}
	return kept
}

// TrimMeta returns the metadata that identifies an object, without labels.
func TrimMeta(o metav1.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(), ResourceVersion: o.GetResourceVersion(), DeletionTimestamp: o.GetDeletionTimestamp()}
}

// TrimManagedFields is the Trim of sources that have none.
func TrimManagedFields(o Object) (Object, error) {
	o.SetManagedFields(nil)
	return o, nil
}

// TrimSpec keeps fields of an unstructured object's spec that are strings, and drops its
// status and annotations.
func TrimSpec(fields ...string) func(Object) (Object, error) {
	return func(object Object) (Object, error) {
		o, ok := object.(*unstructured.Unstructured)
		if !ok {
			return object, nil
		}
		spec := map[string]any{}
		for _, field := range fields {
			if value, found, _ := unstructured.NestedString(o.Object, "spec", field); found {
				spec[field] = value
			}
		}
		o.SetManagedFields(nil)
		o.SetAnnotations(nil)
		o.Object["spec"] = spec
		delete(o.Object, "status")
		return o, nil
	}
}
