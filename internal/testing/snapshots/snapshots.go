// Package snapshots reads what a cluster held from YAML that people can read.
package snapshots

import (
	"os"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// Objects of a file of YAML documents.
func Objects(t testing.TB, path string) []unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []unstructured.Unstructured
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		raw, err := yaml.YAMLToJSONStrict([]byte(document))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		o := unstructured.Unstructured{}
		if err := o.UnmarshalJSON(raw); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out = append(out, o)
	}
	return out
}

// Cluster reads a file that has one PgStorageCluster and the objects that it uses. An object of
// a kind without a place of its own in a snapshot counts as one of the profile's objects.
func Cluster(t testing.TB, path string) snapshot.Cluster {
	t.Helper()
	s := snapshot.Cluster{}
	for _, o := range Objects(t, path) {
		place(t, &s, o)
	}
	if s.Cluster != nil {
		s.Profile.Name = s.Cluster.Spec.Profile
	}
	return s
}

func place(t testing.TB, s *snapshot.Cluster, o unstructured.Unstructured) {
	t.Helper()
	switch o.GetKind() {
	case "PgStorageCluster":
		s.Cluster = into[v1alpha1.PgStorageCluster](t, o)
	case "PgStorageProfile":
		s.Profile.Profile = into[v1alpha1.PgStorageProfile](t, o)
		s.Profile.Name = s.Profile.Profile.Name
	case "PgNodeStorage":
		s.Profile.Storages = append(s.Profile.Storages, *into[v1alpha1.PgNodeStorage](t, o))
	case "StorageClass":
		s.Profile.Classes = append(s.Profile.Classes, *into[storagev1.StorageClass](t, o))
	case "Cluster":
		s.Database = into[cnpgv1.Cluster](t, o)
	case "PersistentVolumeClaim":
		s.Claims = append(s.Claims, *into[corev1.PersistentVolumeClaim](t, o))
	case "PgBenchmark":
		s.Benchmarks = append(s.Benchmarks, *into[v1alpha1.PgBenchmark](t, o))
	case "PodMonitor":
		s.PodMonitor = &o
	case "Pod":
		if o.GetLabels()[naming.LabelStore] == "" {
			s.Pods = append(s.Pods, *into[corev1.Pod](t, o))
			return
		}
		s.Profile.Objects = append(s.Profile.Objects, o)
	default:
		s.Profile.Objects = append(s.Profile.Objects, o)
	}
}

func into[T any](t testing.TB, o unstructured.Unstructured) *T {
	t.Helper()
	out := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, out, true); err != nil {
		t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
	}
	return out
}
