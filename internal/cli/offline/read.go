// Package offline plans from files alone what the operator would make, by the same
// code as the manager. What only a cluster could tell is assumed, and said.
package offline

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/admit"
)

// noUID stands where the API server would put one.
const noUID = types.UID("00000000-0000-0000-0000-000000000000")

// File with documents of YAML or JSON.
type File struct {
	Name    string
	Content []byte
}

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
}

// Read files. All that is wrong in them is in the error.
func (r Reader) Read(ctx context.Context, files ...File) (Documents, error) {
	out := Documents{}
	var wrong []error
	for _, f := range files {
		objects, err := split(f.Content)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", f.Name, err))
		}
		for _, o := range objects {
			if err := r.take(ctx, &out, o); err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", f.Name, err))
			}
		}
	}
	if len(out.Profiles)+len(out.Clusters)+len(out.Benchmarks) == 0 && len(wrong) == 0 {
		wrong = append(wrong, errors.New("the files hold no PgStorageProfile, PgStorageCluster or PgBenchmark; name one by -f"))
	}
	return out, errors.Join(wrong...)
}

// split a file into objects; those of a list are taken out of it.
func split(content []byte) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for n := 1; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, fmt.Errorf("document %d: %w", n, err)
		}
		raw, err := yaml.YAMLToJSONStrict(document)
		if err != nil {
			return out, fmt.Errorf("document %d: %w", n, err)
		}
		if string(raw) == "null" {
			continue // only comments
		}
		objects, err := parse(raw)
		if err != nil {
			return out, fmt.Errorf("document %d: %w", n, err)
		}
		out = append(out, objects...)
	}
}

func parse(raw []byte) ([]*unstructured.Unstructured, error) {
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

// complete an object of ours as the API server does when it is created.
func (r Reader) complete(ctx context.Context, o *unstructured.Unstructured) error {
	if o.GetNamespace() == "" && r.Schemas.Namespaced(o.GroupVersionKind()) {
		o.SetNamespace(r.Namespace)
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
