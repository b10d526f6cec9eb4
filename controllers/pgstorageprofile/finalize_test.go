package pgstorageprofile

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/kube/scheme"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd"
	"github.com/pgstorage/pgstorage/internal/operator/profile/memory"
)

// Only a pass that deletes nothing may do without the API server.
func TestReleasing(t *testing.T) {
	stays, ends := &v1alpha1.PgNodeStorage{}, &v1alpha1.PgNodeStorage{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: new(metav1.Unix(1, 0))}}
	for _, tc := range []struct {
		name     string
		storages []*v1alpha1.PgNodeStorage
		want     bool
	}{
		{"no PgNodeStorage", nil, false},
		{"one that stays", []*v1alpha1.PgNodeStorage{ends, stays}, false},
		{"all end", []*v1alpha1.PgNodeStorage{ends, ends}, true},
	} {
		if got := releasing(&pass{facts: observed.Profile{Storages: tc.storages}}); got != tc.want {
			t.Errorf("%s: %t", tc.name, got)
		}
	}
}

// The PgNodeStorage of a Node that only the cache lacks stays: its volumes may be in use.
func TestPruneAsksForTheNode(t *testing.T) {
	storage := &v1alpha1.PgNodeStorage{ObjectMeta: metav1.ObjectMeta{Name: "mem-n1"}, Spec: v1alpha1.PgNodeStorageSpec{Profile: "mem", NodeName: "n1"}}
	for _, tc := range []struct {
		name    string
		objects []client.Object
		stays   bool
	}{
		{"the API server has the Node", []client.Object{&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}}, true},
		{"the Node is gone", nil, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(append(tc.objects, storage.DeepCopy())...).Build()
			key, seen := client.ObjectKeyFromObject(storage), &v1alpha1.PgNodeStorage{}
			if err := c.Get(t.Context(), key, seen); err != nil {
				t.Fatal(err)
			}
			cached := fake.NewClientBuilder().WithScheme(scheme.New()).Build()
			r := &Reconciler{Client: c, Readers: observe.Readers{Cache: cached, Live: c}, Enabled: map[v1alpha1.ProfileType]bool{v1alpha1.ProfileTypeMemory: true}}
			work := &pass{kind: memory.Type{}, facts: observed.Profile{
				Storages: []*v1alpha1.PgNodeStorage{seen}, Reachable: map[string]observed.Reachability{"n1": {Gone: true}},
			}}
			if err := r.prune(t.Context(), work); err != nil {
				t.Fatal(err)
			}
			if err := c.Get(t.Context(), key, &v1alpha1.PgNodeStorage{}); apierrors.IsNotFound(err) == tc.stays {
				t.Errorf("stays %t: %v", tc.stays, err)
			}
		})
	}
}

// A user may set deletionPolicy: Retain while the profile is being deleted. Nothing is deleted
// after that, whatever the cache still has.
func TestConfirmReadsDeletionPolicy(t *testing.T) {
	ceph := func(policy v1alpha1.DeletionPolicy) *v1alpha1.PgStorageProfile {
		return &v1alpha1.PgStorageProfile{ObjectMeta: metav1.ObjectMeta{Name: "ceph", UID: "1"}, Spec: v1alpha1.PgStorageProfileSpec{
			Type: v1alpha1.ProfileTypeCephRBD, CephRBD: &v1alpha1.CephRBDProfile{DeletionPolicy: policy, Rook: v1alpha1.RookNames{Namespace: "rook-ceph"}},
		}}
	}
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: naming.DataClass("ceph"), Labels: map[string]string{naming.LabelOwnerUID: "1"}}}
	for _, tc := range []struct {
		policy  v1alpha1.DeletionPolicy
		deletes bool
	}{
		{v1alpha1.DeletionDelete, true},
		{v1alpha1.DeletionRetain, false},
	} {
		c := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(ceph(tc.policy), class.DeepCopy()).
			WithIndex(&v1alpha1.PgStorageCluster{}, observe.ProfileIndex, observe.IndexProfile).Build()
		caches := map[observe.SourceGroup]client.Reader{}
		for _, s := range (cephrbd.Type{}).Hooks().Sources {
			caches[observe.SourceGroup{Type: v1alpha1.ProfileTypeCephRBD, Group: s.Group}] = c
		}
		r := &Reconciler{Client: c, Readers: observe.Readers{Cache: c, Live: c, Scheme: scheme.New(), BySource: caches}}
		work := &pass{kind: cephrbd.Type{}, profile: ceph(v1alpha1.DeletionDelete), live: plan.Live{}}
		action, err := r.confirm(t.Context(), work)
		if err != nil {
			t.Fatal(err)
		}
		if deletes := action.Kind == "StorageClass"; deletes != tc.deletes {
			t.Errorf("the API server has %s: %+v", tc.policy, action)
		}
	}
}
