// Package render plans from files alone what the operator would make, by the same
// code as the manager. What only a cluster could tell is assumed, and said.
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

// noUID stands where the API server would put one.
const noUID = types.UID("00000000-0000-0000-0000-000000000000")

// Documents are the objects of files that a plan follows from, completed as by the
// API server.
type Documents struct {
	Profiles   []*v1alpha1.PgStorageProfile
	Clusters   []*v1alpha1.PgStorageCluster
	Benchmarks []*v1alpha1.PgBenchmark
	Nodes      []*corev1.Node
	Classes    []*storagev1.StorageClass
	// Ignored objects, of which nothing follows.
	Ignored []string
}

// Reader of files.
type Reader struct {
	Schemas *admit.Schemas
	// Namespace of objects that name none.
	Namespace string
	// Enforced refuses objects that name another namespace, as kubectl does where
	// --namespace is given.
	Enforced bool
}

// Read files. All that is wrong in them is in the error, with its place.
func (r Reader) Read(ctx context.Context, files ...input.File) (Documents, error) {
	out, places := Documents{}, map[identity]string{}
	var wrong []error
	for _, f := range files {
		objects, err := split(f)
		if err != nil {
			wrong = append(wrong, err)
		}
		for _, o := range objects {
			err := r.take(ctx, &out, o.content)
			if err == nil {
				err = r.once(places, o)
			}
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", o.place, err))
			}
		}
	}
	if len(out.Profiles)+len(out.Clusters)+len(out.Benchmarks) == 0 && len(wrong) == 0 {
		wrong = append(wrong, errors.New("the files have no PgStorageProfile, PgStorageCluster or PgBenchmark; give one by -f"))
	}
	return out, errors.Join(wrong...)
}

// object of a file, and where it is.
type object struct {
	place   string
	content *unstructured.Unstructured
}

// identity of an object. An API server has one of each.
type identity struct {
	kind            schema.GroupKind
	namespace, name string
}

// once refuses an object that the input has already: which of the two counts would
// depend on the order of files.
func (r Reader) once(places map[identity]string, o object) error {
	if o.content.GetName() == "" {
		return nil
	}
	id := identity{o.content.GroupVersionKind().GroupKind(), o.content.GetNamespace(), o.content.GetName()}
	if first, found := places[id]; found {
		return fmt.Errorf("%s %s is also in %s; remove one of the two", id.kind.Kind, strings.TrimPrefix(id.namespace+"/"+id.name, "/"), first)
	}
	places[id] = o.place
	return nil
}

// maxWrong limits how many documents of a file are reported.
const maxWrong = 20

// split a file into objects; those of a list are taken out of it.
func split(f input.File) ([]object, error) {
	documents, err := input.Documents(f)
	var out []object
	wrong := []error{}
	for _, d := range documents {
		if len(wrong) >= maxWrong {
			return nil, errors.Join(append(wrong, fmt.Errorf("%s: more documents are not looked at; correct these first", f.Name))...)
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

func parse(raw []byte) ([]*unstructured.Unstructured, error) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, errors.New("this is not an object; an object has apiVersion, kind and metadata")
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

// take an object into the documents.
func (r Reader) take(ctx context.Context, out *Documents, o *unstructured.Unstructured) error {
	switch o.GroupVersionKind() {
	case corev1.SchemeGroupVersion.WithKind("Node"):
		return into(o, &out.Nodes)
	case storagev1.SchemeGroupVersion.WithKind("StorageClass"):
		return into(o, &out.Classes)
	}
	if o.GroupVersionKind().Group != v1alpha1.GroupVersion.Group {
		if err := r.misnamed(o); err != nil {
			return err
		}
		out.Ignored = append(out.Ignored, o.GetKind()+" "+o.GetName())
		return nil
	}
	if err := r.complete(ctx, o); err != nil {
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

// misnamed refuses an object that looks like one of ours and would be ignored.
func (r Reader) misnamed(o *unstructured.Unstructured) error {
	for _, crd := range r.Schemas.Definitions() {
		if strings.EqualFold(crd.Spec.Names.Kind, o.GetKind()) {
			return fmt.Errorf("%s %s: apiVersion is %q; %s is of %s", o.GetKind(), o.GetName(), o.GetAPIVersion(), crd.Spec.Names.Kind, v1alpha1.GroupVersion)
		}
	}
	if o.GetAPIVersion() == "" {
		return fmt.Errorf("%s %s: apiVersion is missing", o.GetKind(), o.GetName())
	}
	return nil
}

// complete an object of ours as the API server does when it is created.
func (r Reader) complete(ctx context.Context, o *unstructured.Unstructured) error {
	if r.Schemas.Namespaced(o.GroupVersionKind()) {
		switch namespace := o.GetNamespace(); {
		case namespace == "":
			o.SetNamespace(r.Namespace)
		case r.Enforced && namespace != r.Namespace:
			return fmt.Errorf("%s %s: metadata.namespace is %s, and --namespace is %s; remove one of the two", o.GetKind(), o.GetName(), namespace, r.Namespace)
		}
	}
	if err := r.Schemas.Admit(ctx, o); err != nil {
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

func into[T any](o *unstructured.Unstructured, list *[]*T) error {
	typed := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed); err != nil {
		return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
	}
	*list = append(*list, typed)
	return nil
}
