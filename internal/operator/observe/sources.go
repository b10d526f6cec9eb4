package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// Sources lists the objects that a kind of storage declares as its sources, and has the
// kind read them into facts. It reads nothing but caches.
func (r Readers) Sources(ctx context.Context, p *v1alpha1.PgStorageProfile, kind profile.Type, facts *observed.Profile, live plan.Live) error {
	return r.read(ctx, p, kind, facts, live, r.cached)
}

// Guards returns the facts with what guards a teardown read again, from the API server: the
// classes, and the sources with Guards. It puts the profile's own objects into live.
func (r Readers) Guards(ctx context.Context, p *v1alpha1.PgStorageProfile, kind profile.Type, facts observed.Profile, live plan.Live) (observed.Profile, error) {
	if kind.Hooks().Read == nil {
		return facts, nil
	}
	if err := classes(ctx, r.Live, kind.Classes(p), &facts, live); err != nil {
		return facts, err
	}
	err := r.read(ctx, p, kind, &facts, live, r.guarding)
	return facts, err
}

// lister lists the objects of a source.
type lister func(ctx context.Context, p *v1alpha1.PgStorageProfile, s profile.Source) ([]profile.Object, error)

func (r Readers) read(ctx context.Context, p *v1alpha1.PgStorageProfile, kind profile.Type, facts *observed.Profile, live plan.Live, list lister) error {
	hooks := kind.Hooks()
	if hooks.Read == nil {
		return nil
	}
	nodes := &corev1.NodeList{}
	if err := r.Cache.List(ctx, nodes, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list Nodes: %w", err)
	}
	objects := profile.Objects{Nodes: nodes.Items}
	for _, s := range hooks.Sources {
		if !s.Served(facts.ForeignAPIs) {
			continue
		}
		found, err := list(ctx, p, s)
		if err != nil {
			return err
		}
		objects.Add(s.Kind, found...)
		if s.Created {
			created(live, p, s, found)
		}
	}
	return hooks.Read(p, objects, facts)
}

func (r Readers) cached(ctx context.Context, p *v1alpha1.PgStorageProfile, s profile.Source) ([]profile.Object, error) {
	return r.source(ctx, p, s, r.BySource[SourceGroup{Type: p.Spec.Type, Group: s.Group}], client.UnsafeDisableDeepCopy)
}

// guarding asks the API server for what guards a teardown, and the cache for the rest.
func (r Readers) guarding(ctx context.Context, p *v1alpha1.PgStorageProfile, s profile.Source) ([]profile.Object, error) {
	if !s.Guards {
		return r.cached(ctx, p, s)
	}
	selector, err := labels.Parse(s.Selector)
	if err != nil {
		return nil, fmt.Errorf("select %s: %w", s.Kind, err)
	}
	return r.source(ctx, p, s, r.Live, client.MatchingLabelsSelector{Selector: selector})
}

func (r Readers) source(ctx context.Context, p *v1alpha1.PgStorageProfile, s profile.Source, from client.Reader, options ...client.ListOption) ([]profile.Object, error) {
	list := listOf(r.Scheme, s)
	if s.Namespace != nil {
		options = append(options, client.InNamespace(s.Namespace(p)))
	}
	if err := from.List(ctx, list, options...); err != nil {
		return nil, fmt.Errorf("list objects of kind %s: %w", s.Kind.Kind, err)
	}
	var out []profile.Object
	err := meta.EachListItem(list, func(o runtime.Object) error {
		if object, ok := o.(profile.Object); ok {
			out = append(out, object)
		}
		return nil
	})
	return out, err
}

// created adds copies of the objects that the profile created, which a pass may change.
func created(live plan.Live, p *v1alpha1.PgStorageProfile, s profile.Source, objects []profile.Object) {
	for _, o := range objects {
		if o.GetLabels()[naming.LabelOwnerUID] != string(p.UID) {
			continue
		}
		if object, ok := o.DeepCopyObject().(client.Object); ok {
			live[keyOf(s.Kind, object)] = object
		}
	}
}

// Prototype returns an empty object of a source, of its Go type where the scheme has one.
func Prototype(scheme *runtime.Scheme, s profile.Source) client.Object {
	if s.Metadata {
		o := &metav1.PartialObjectMetadata{}
		o.SetGroupVersionKind(s.Kind)
		return o
	}
	if typed, err := scheme.New(s.Kind); err == nil {
		if o, ok := typed.(client.Object); ok {
			return o
		}
	}
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(s.Kind)
	return o
}

func listOf(scheme *runtime.Scheme, s profile.Source) client.ObjectList {
	kind := s.Kind.GroupVersion().WithKind(s.Kind.Kind + "List")
	if s.Metadata {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind)
		return list
	}
	if typed, err := scheme.New(kind); err == nil {
		if list, ok := typed.(client.ObjectList); ok {
			return list
		}
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind)
	return list
}
