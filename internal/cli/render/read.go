// Package render plans offline what the operator would create from files, with the code
// of the manager. It lists the assumptions it makes about the cluster.
package render

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/admit"
	"github.com/pgstorage/pgstorage/internal/cli/input"
)

// noUID is the UID of objects that the API server has not created.
const noUID = types.UID("00000000-0000-0000-0000-000000000000")

// Documents are the objects of the files, with the defaults of the API server.
type Documents struct {
	Profiles   []*v1alpha1.PgStorageProfile
	Clusters   []*v1alpha1.PgStorageCluster
	Benchmarks []*v1alpha1.PgBenchmark
	Nodes      []*corev1.Node
	Classes    []*storagev1.StorageClass
	// Ignored names the objects that have no effect on a plan.
	Ignored []string
}

// Loader loads files.
type Loader struct {
	Schemas *admit.Schemas
	// Namespace of objects without one.
	Namespace string
	// Enforced rejects objects of another namespace, as kubectl does with --namespace.
	Enforced bool
}

// Load reads and validates the objects of files. The error has every fault with its place.
func (l Loader) Load(ctx context.Context, files ...input.File) (Documents, error) {
	out, places := Documents{}, map[identity]string{}
	var wrong []error
	for _, f := range files {
		objects, err := split(f)
		if err != nil {
			wrong = append(wrong, err)
		}
		for _, o := range objects {
			err := l.add(ctx, &out, o.content)
			if err == nil {
				err = l.rejectDuplicate(places, o)
			}
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", o.place, err))
			}
		}
	}
	if len(out.Profiles)+len(out.Clusters)+len(out.Benchmarks) == 0 && len(wrong) == 0 {
		wrong = append(wrong, errors.New("no PgStorageProfile, PgStorageCluster or PgBenchmark found in the files; give one with -f"))
	}
	return out, errors.Join(wrong...)
}

// object is an object of a file and its place.
type object struct {
	place   string
	content *unstructured.Unstructured
}

// identity identifies an object on an API server.
type identity struct {
	kind            schema.GroupKind
	namespace, name string
}

// rejectDuplicate rejects an object that the input already has, because the effective one
// would depend on the order of the files.
func (l Loader) rejectDuplicate(places map[identity]string, o object) error {
	if o.content.GetName() == "" {
		return nil
	}
	id := identity{o.content.GroupVersionKind().GroupKind(), o.content.GetNamespace(), o.content.GetName()}
	if first, found := places[id]; found {
		return fmt.Errorf("duplicate %s %s, also in %s; remove one of the two", id.kind.Kind, strings.TrimPrefix(id.namespace+"/"+id.name, "/"), first)
	}
	places[id] = o.place
	return nil
}

// maxErrors limits the reported documents of a file.
const maxErrors = 20

// split returns the objects of a file, including the items of lists.
func split(f input.File) ([]object, error) {
	documents, err := input.Documents(f)
	var out []object
	wrong := []error{}
	for _, d := range documents {
		if len(wrong) >= maxErrors {
			return nil, errors.Join(append(wrong, fmt.Errorf("%s: too many errors; correct these first", f.Name))...)
		}
		objects, err := parse(d.JSON)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", d.Place, err))
		}
		for i, o := range objects {
			place := d.Place
			if len(objects) > 1 {
				place += fmt.Sprintf(", item %d", i+1)
			}
			out = append(out, object{place, o})
		}
	}
	return out, errors.Join(append(wrong, err)...)
}

// parse returns an object, or the items of a list.
func parse(raw []byte) ([]*unstructured.Unstructured, error) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, errors.New("not an object; an object has apiVersion, kind and metadata")
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(raw); err != nil {
		return nil, err
	}
	if !o.IsList() {
		return []*unstructured.Unstructured{o}, nil
	}
	list, err := o.ToList()
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	return out, nil
}

// add validates an object and adds it to the documents.
func (l Loader) add(ctx context.Context, out *Documents, o *unstructured.Unstructured) error {
	switch gvk := o.GroupVersionKind(); {
	case gvk == corev1.SchemeGroupVersion.WithKind("Node"):
		return into(o, &out.Nodes)
	case gvk == storagev1.SchemeGroupVersion.WithKind("StorageClass"):
		return into(o, &out.Classes)
	case gvk.Group == v1alpha1.GroupVersion.Group:
		return l.addOwn(ctx, out, o)
	}
	if err := l.misnamed(o); err != nil {
		return err
	}
	out.Ignored = append(out.Ignored, o.GetKind()+" "+o.GetName())
	return nil
}

// addOwn validates an object of pgstorage and adds it to the documents.
func (l Loader) addOwn(ctx context.Context, out *Documents, o *unstructured.Unstructured) error {
	if err := l.complete(ctx, o); err != nil {
		return err
	}
	switch o.GetKind() {
	case "PgStorageProfile":
		return into(o, &out.Profiles)
	case "PgStorageCluster":
		return into(o, &out.Clusters)
	case "PgBenchmark":
		return into(o, &out.Benchmarks)
	}
	out.Ignored = append(out.Ignored, o.GetKind()+" "+o.GetName())
	return nil
}

// misnamed rejects an object with a kind of pgstorage and another apiVersion, which would
// be ignored.
func (l Loader) misnamed(o *unstructured.Unstructured) error {
	if o.GetAPIVersion() == "" {
		return fmt.Errorf("%s %s: apiVersion is missing", o.GetKind(), o.GetName())
	}
	for _, crd := range l.Schemas.Definitions() {
		if strings.EqualFold(crd.Spec.Names.Kind, o.GetKind()) {
			return fmt.Errorf("%s %s: unknown apiVersion %q; %s has apiVersion %s", o.GetKind(), o.GetName(), o.GetAPIVersion(), crd.Spec.Names.Kind, v1alpha1.GroupVersion)
		}
	}
	return nil
}

// complete validates an object of pgstorage and sets its defaults, as the API server does.
func (l Loader) complete(ctx context.Context, o *unstructured.Unstructured) error {
	if l.Schemas.Namespaced(o.GroupVersionKind()) {
		switch namespace := o.GetNamespace(); {
		case namespace == "":
			o.SetNamespace(l.Namespace)
		case l.Enforced && namespace != l.Namespace:
			return fmt.Errorf("%s %s: metadata.namespace is %s, but --namespace is %s; remove one of the two", o.GetKind(), o.GetName(), namespace, l.Namespace)
		}
	}
	if err := l.Schemas.Admit(ctx, o); err != nil {
		return err
	}
	if o.GetUID() == "" {
		o.SetUID(noUID)
	}
	if o.GetGeneration() == 0 {
		o.SetGeneration(1)
	}
	return nil
}

// into converts an object to its Go type and appends it to a list.
func into[T any](o *unstructured.Unstructured, list *[]*T) error {
	typed := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed); err != nil {
		return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
	}
	*list = append(*list, typed)
	return nil
}
