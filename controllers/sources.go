package controllers

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/operator/observe"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// sourceCache holds the objects that one kind of storage reads and others created, trimmed
// to what it reads. Nothing is watched before the first pass over such a profile.
type sourceCache struct{ cache.Cache }

// GetCache has the manager start it with its own caches, before any controller.
func (c sourceCache) GetCache() cache.Cache { return c.Cache }

// addSourceCaches adds a cache to the manager for every group of a kind's sources.
func addSourceCaches(mgr ctrl.Manager, kinds profile.Catalog) (map[observe.SourceGroup]cache.Cache, error) {
	out := map[observe.SourceGroup]cache.Cache{}
	for group, sources := range sourceGroups(kinds) {
		c, err := newSourceCache(mgr, sources)
		if err != nil {
			return nil, fmt.Errorf("cache of profiles of type %s: %w", group.Type, err)
		}
		out[group] = c
		if err := mgr.Add(sourceCache{c}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func sourceGroups(kinds profile.Catalog) map[observe.SourceGroup][]profile.Source {
	out := map[observe.SourceGroup][]profile.Source{}
	for _, t := range kinds {
		for _, s := range t.Hooks().Sources {
			group := observe.SourceGroup{Type: t.Name(), Group: s.Group}
			out[group] = append(out[group], s)
		}
	}
	return out
}

// newSourceCache names only built-in kinds: foreign CRDs need not exist yet when the
// manager starts.
func newSourceCache(mgr ctrl.Manager, sources []profile.Source) (cache.Cache, error) {
	byObject := map[client.Object]cache.ByObject{}
	for _, s := range sources {
		if s.Selector == "" || len(s.CRDs) > 0 {
			continue
		}
		selector, err := labels.Parse(s.Selector)
		if err != nil {
			return nil, fmt.Errorf("select %s: %w", s.Kind, err)
		}
		byObject[observe.Prototype(mgr.GetScheme(), s)] = cache.ByObject{Label: selector}
	}
	return cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
		DefaultTransform: trim(mgr.GetScheme(), sources),
		ByObject:         byObject,
	})
}

// trim returns the transform that applies to each object the Trim of its source.
func trim(scheme *runtime.Scheme, sources []profile.Source) func(any) (any, error) {
	return func(object any) (any, error) {
		o, ok := object.(client.Object)
		if !ok {
			return object, nil
		}
		for _, s := range sources {
			if isOf(scheme, s, o) && s.Trim != nil {
				return s.Trim(o)
			}
		}
		return profile.TrimManagedFields(o)
	}
}

// isOf reports whether an object is one of a source. Typed objects do not carry their
// kind.
func isOf(scheme *runtime.Scheme, s profile.Source, o client.Object) bool {
	_, metadata := o.(*metav1.PartialObjectMetadata)
	_, unstructured := o.(*unstructured.Unstructured)
	if metadata || unstructured {
		return metadata == s.Metadata && o.GetObjectKind().GroupVersionKind() == s.Kind
	}
	kinds, _, err := scheme.ObjectKinds(o)
	return err == nil && !s.Metadata && kinds[0] == s.Kind
}
