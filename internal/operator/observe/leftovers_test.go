package observe

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/scheme"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
	"github.com/pgstorage/pgstorage/internal/operator/profile/external"
	"github.com/pgstorage/pgstorage/internal/operator/profile/s3nbd"
)

// The operator finds without a cache what a profile left. Objects of others do not count.
func TestLeftoversOfAProfile(t *testing.T) {
	p := &v1alpha1.PgStorageProfile{ObjectMeta: metav1.ObjectMeta{Name: "lake", UID: "uid"}, Spec: v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeS3NBD, S3NBD: &v1alpha1.S3NBDProfile{}}}
	kind, err := catalog.All().For(p.Spec.Type)
	if err != nil {
		t.Fatal(err)
	}
	facts := observed.Profile{Operator: observed.Operator{Namespace: "system"}}
	meta := func(namespace, name, uid string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: naming.ProfileLabels("lake", uid)}
	}
	class := kind.Classes(p)[0]
	for _, tc := range []struct {
		name  string
		there client.Object
		of    string
		want  []string
	}{
		{"nothing", &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "standard"}}, "StorageClass", nil},
		{"a DaemonSet", &appsv1.DaemonSet{ObjectMeta: meta("system", "server", "uid")}, "DaemonSet", []string{"server"}},
		{"a DaemonSet elsewhere", &appsv1.DaemonSet{ObjectMeta: meta("tenant", "server", "uid")}, "StorageClass", nil},
		{"its class", &storagev1.StorageClass{ObjectMeta: meta("", class, "uid")}, "StorageClass", []string{class}},
		{"its class of before", &storagev1.StorageClass{ObjectMeta: meta("", class, "old")}, "StorageClass", nil},
		{"a class of another name", &storagev1.StorageClass{ObjectMeta: meta("", "other", "uid")}, "StorageClass", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := Readers{Live: fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(tc.there.DeepCopyObject().(client.Object)).Build()}
			of, got, err := r.Leftovers(t.Context(), p, kind, facts)
			if err != nil || of != tc.of || !slices.Equal(got, tc.want) {
				t.Errorf("%s %v, %v; want %s %v", of, got, err, tc.of, tc.want)
			}
		})
	}
	facts.ClassesInUse = []string{class}
	r := Readers{Live: fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(&storagev1.StorageClass{ObjectMeta: meta("", class, "uid")}).Build()}
	if of, got, err := r.Leftovers(t.Context(), p, kind, facts); err != nil || len(got) > 0 {
		t.Errorf("a class that volumes have: %s %v, %v", of, got, err)
	}
}

// Only the API server says which PgNodeStorages are left. Forged ones do not count.
func TestStoragesLeftOfAProfile(t *testing.T) {
	p := &v1alpha1.PgStorageProfile{ObjectMeta: metav1.ObjectMeta{Name: "lake", UID: "uid"}}
	labels := naming.ProfileLabels("lake", "uid")
	spec := v1alpha1.PgNodeStorageSpec{Profile: "lake", NodeName: "n1"}
	name := naming.NodeStorage("lake", "n1")
	r := Readers{Cache: fakeClient(), Live: fakeClient(
		&v1alpha1.PgNodeStorage{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: spec},
		&v1alpha1.PgNodeStorage{ObjectMeta: metav1.ObjectMeta{Name: "forged", Labels: labels}, Spec: spec},
	)}
	if got, err := r.StoragesLeft(t.Context(), p, s3nbd.Type{}); err != nil || !slices.Equal(got, []string{name}) {
		t.Errorf("%v, %v; want %s", got, err, name)
	}
	if got, err := r.StoragesLeft(t.Context(), p, external.Type{}); err != nil || len(got) > 0 {
		t.Errorf("a kind without nodes: %v, %v", got, err)
	}
}

// A Node is gone only if the API server does not have it either.
func TestNodeGone(t *testing.T) {
	node := func(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	r := Readers{Cache: fakeClient(node("cached")), Live: fakeClient(node("new"))}
	for name, want := range map[string]bool{"cached": false, "new": false, "none": true} {
		if got, err := r.NodeGone(t.Context(), name); err != nil || got != want {
			t.Errorf("%s: gone %t, %v", name, got, err)
		}
	}
}
