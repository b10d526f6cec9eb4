package controllers

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// Bounds of what the cache keeps of one object of a namespace, whose writers are not
// trusted with the manager's memory.
const (
	// maxStatus is the JSON of a status of our own kinds. The largest that the operator
	// writes itself, of a matrix of 64 variants and 20 repeats, has about 256 KiB.
	maxStatus = 384 << 10
	// maxChild is the JSON of an object of another API. A Cluster with the largest
	// spec.cnpg.spec and parameters has about 150 KiB.
	maxChild = 256 << 10
	// maxEntries of labels, of annotations and of finalizers, and the length of one value.
	maxEntries = 64
	maxValue   = 4 << 10
)

// domains are the prefixes of the labels and annotations that the operator reads.
var domains = []string{"pgstorage.dev/", "app.kubernetes.io/", "cnpg.io/"}

// slimOwn bounds an object of our own kinds. Their specs are bounded by the API, apart
// from the fields of CloudNativePG.
func slimOwn(object any) (any, error) {
	switch o := object.(type) {
	case *v1alpha1.PgStorageCluster:
		slimTenant(o)
		slimOverrides(o.Spec.CNPG)
		if tooLarge(o, o.Status) {
			o.Status = v1alpha1.PgStorageClusterStatus{}
		}
	case *v1alpha1.PgBenchmark:
		slimTenant(o)
		slimTemplate(o.Spec.Template)
		if tooLarge(o, o.Status) {
			o.Status = v1alpha1.PgBenchmarkStatus{CompletionTime: o.Status.CompletionTime}
		}
	case *v1alpha1.PgScheduledBenchmark:
		slimTenant(o)
		slimTemplate(o.Spec.Template.Spec.Template)
		if tooLarge(o, o.Status) {
			o.Status = v1alpha1.PgScheduledBenchmarkStatus{}
		}
	case *v1alpha1.PgStorageBranch:
		slimTenant(o)
		if tooLarge(o, o.Status) {
			o.Status = v1alpha1.PgStorageBranchStatus{}
		}
	}
	return object, nil
}

// slimOthers drops managed fields, which nothing here reads, and bounds what is in a
// namespace. Authors of a Cluster or a Job there may give it our labels. slimOthers
// keeps only the metadata of an object that is too large.
func slimOthers(object any) (any, error) {
	o, ok := object.(client.Object)
	if !ok {
		return object, nil
	}
	o.SetManagedFields(nil)
	if o.GetNamespace() == "" {
		return o, nil
	}
	slimTenant(o)
	if size(o) <= maxChild {
		return o, nil
	}
	return metadataOnly(o), nil
}

// metadataOnly is an object of the same type without spec and status.
func metadataOnly(o client.Object) client.Object {
	empty, ok := reflect.TypeAssert[client.Object](reflect.New(reflect.TypeOf(o).Elem()))
	if !ok {
		return o
	}
	empty.GetObjectKind().SetGroupVersionKind(o.GetObjectKind().GroupVersionKind())
	empty.SetNamespace(o.GetNamespace())
	empty.SetName(o.GetName())
	empty.SetUID(o.GetUID())
	empty.SetResourceVersion(o.GetResourceVersion())
	empty.SetGeneration(o.GetGeneration())
	empty.SetCreationTimestamp(o.GetCreationTimestamp())
	empty.SetDeletionTimestamp(o.GetDeletionTimestamp())
	empty.SetFinalizers(o.GetFinalizers())
	empty.SetOwnerReferences(o.GetOwnerReferences())
	empty.SetLabels(o.GetLabels())
	empty.SetAnnotations(o.GetAnnotations())
	return empty
}

// slimTenant bounds metadata, which no schema can. Patches are made of two copies of
// the cached object, so that nothing that is left out here is removed there.
func slimTenant(o client.Object) {
	o.SetManagedFields(nil)
	o.SetLabels(ours(o.GetLabels()))
	annotations := ours(o.GetAnnotations())
	delete(annotations, naming.AnnotationTooLarge)
	o.SetAnnotations(annotations)
	var owners []metav1.OwnerReference
	if owner := metav1.GetControllerOf(o); owner != nil {
		owners = append(owners, *owner)
	}
	o.SetOwnerReferences(owners)
	if all := o.GetFinalizers(); len(all) > maxEntries {
		foreign := func(name string) bool { return domainOf(name) == "" }
		own := slices.DeleteFunc(slices.Clone(all), foreign)
		all = append(own, slices.DeleteFunc(all, func(name string) bool { return !foreign(name) })...)
		o.SetFinalizers(slices.Clone(all[:maxEntries]))
	}
}

// ours are the entries that the operator reads.
func ours(all map[string]string) map[string]string {
	kept := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if value := all[name]; domainOf(name) != "" && len(value) <= maxValue && len(kept) < maxEntries {
			kept[name] = value
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

func domainOf(name string) string {
	for _, domain := range domains {
		if strings.HasPrefix(name, domain) {
			return domain
		}
	}
	return ""
}

func slimTemplate(t *v1alpha1.ClusterTemplate) {
	if t != nil {
		slimOverrides(t.CNPG)
	}
}

// slimOverrides keeps what is refused for its length in a few bytes.
func slimOverrides(o *v1alpha1.CNPGOverrides) {
	if o == nil || o.Spec == nil {
		return
	}
	if len(o.Spec.Raw) > v1alpha1.MaxOverridesBytes {
		o.Spec.Raw = []byte(v1alpha1.OverridesTooLarge)
	}
	// The bytes may be a part of a whole answer, which they would keep in memory.
	o.Spec.Raw, o.Spec.Object = bytes.Clone(o.Spec.Raw), nil
}

// tooLarge marks an object whose status exceeds maxStatus, and says so.
func tooLarge(o client.Object, status any) bool {
	n := size(status)
	if n <= maxStatus {
		return false
	}
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[naming.AnnotationTooLarge] = strconv.Itoa(n)
	o.SetAnnotations(annotations)
	return true
}

// size of the JSON of an object; of what has none, as if it were too large.
func size(o any) int {
	text, err := json.Marshal(o)
	if err != nil {
		return max(maxStatus, maxChild) + 1
	}
	return len(text)
}
