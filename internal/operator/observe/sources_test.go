package observe

import (
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/kube/scheme"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd"
)

func fakeClient(objects ...client.Object) client.Client {
	return fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(objects...).Build()
}

// The caches have no volume yet, and the teardown would delete the class. The API server has
// one, and the teardown waits.
func TestGuardsComeFromTheAPIServer(t *testing.T) {
	p := &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "ceph", UID: "uid"},
		Spec: v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeCephRBD, CephRBD: &v1alpha1.CephRBDProfile{
			External: new(true), Rook: v1alpha1.RookNames{Namespace: "rook-ceph"}, DeletionPolicy: v1alpha1.DeletionDelete,
		}},
	}
	kind := cephrbd.Type{}
	labels := naming.ProfileLabels("ceph", "uid")
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "ceph", Labels: labels}}
	job := func(name string, labels map[string]string) *batchv1.Job {
		return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "rook-ceph", Name: name, Labels: labels}}
	}
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pvc-1"}, Spec: corev1.PersistentVolumeSpec{StorageClassName: "ceph"}}
	cached := fakeClient()
	r := Readers{
		Cache: cached, Scheme: scheme.New(),
		BySource: map[SourceGroup]client.Reader{{Type: kind.Name()}: cached, {Type: kind.Name(), Group: "instances"}: cached},
		Live:     fakeClient(class, volume, job("probe", labels), job("other", map[string]string{naming.LabelOwnerUID: "uid"})),
	}
	facts, live := observed.Profile{Classes: map[string]*storagev1.StorageClass{"ceph": class}}, plan.Live{}
	if err := r.Sources(t.Context(), p, kind, &facts, live); err != nil {
		t.Fatal(err)
	}
	next := kind.Hooks().Teardown
	if got := next(p, facts); got.Kind != "StorageClass" || len(live) > 0 {
		t.Fatalf("by the caches: %+v, %v", got, live)
	}
	guarded, err := r.Guards(t.Context(), p, kind, facts, live)
	if err != nil {
		t.Fatal(err)
	}
	if got := next(p, guarded); got.Reason != v1alpha1.ReasonInUse || !strings.Contains(got.Waits, "pvc-1") {
		t.Errorf("by the API server: %+v", got)
	}
	if got := next(p, facts); got.Kind != "StorageClass" {
		t.Errorf("the facts of the pass changed: %+v", got)
	}
	var names []string
	for key := range live {
		names = append(names, key.Kind+" "+key.Name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"Job probe", "StorageClass ceph"}) {
		t.Errorf("the profile's own objects: %v", names)
	}
}

// What a teardown of Ceph decides by guards it.
func TestGuardsOfCeph(t *testing.T) {
	var kinds []string
	for _, s := range (cephrbd.Type{}).Hooks().Sources {
		if s.Guards {
			kinds = append(kinds, s.Kind.Kind)
		}
	}
	if want := []string{"CephCluster", "CephBlockPool", "PersistentVolume", "Job"}; !slices.Equal(kinds, want) {
		t.Errorf("%v, want %v", kinds, want)
	}
}
