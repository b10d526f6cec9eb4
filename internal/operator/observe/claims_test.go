package observe

import (
	"slices"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/scheme"
	"github.com/pgstorage/pgstorage/internal/operator/nodevolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// No claim of a database is left out: what it holds may be data.
func TestEveryClaimIsSeen(t *testing.T) {
	for role, want := range map[string]string{roleData: "", roleWAL: "", "PG_TABLESPACE": "PG_TABLESPACE", "PG_FUTURE": "PG_FUTURE", "": "none"} {
		c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "shop-1", Labels: map[string]string{naming.LabelCNPGPVCRole: role, naming.LabelCNPGInstance: "shop-1"}}}
		if got := claim(c, nil, nodevolumes.ByNode{}); got.Role != want || got.WAL != (role == roleWAL) {
			t.Errorf("role %q: %+v", role, got)
		}
	}
}

// Labels are anyone's to give. A claim that the Cluster does not control has no instance.
func TestClaimsThatTheClusterDoesNotControlDoNotCount(t *testing.T) {
	cluster := func(uid types.UID) *cnpgv1.Cluster {
		return &cnpgv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "shop", UID: uid}}
	}
	claim := func(name string, owner *cnpgv1.Cluster) corev1.PersistentVolumeClaim {
		c := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: name, Labels: map[string]string{naming.LabelCNPGCluster: "shop"}}}
		if owner != nil {
			c.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, cnpgv1.SchemeGroupVersion.WithKind("Cluster"))}
		}
		return c
	}
	facts := &observed.Cluster{Cluster: cluster("now"), Profile: &v1alpha1.PgStorageProfile{ObjectMeta: metav1.ObjectMeta{Name: "cache"}}}
	list := &corev1.PersistentVolumeClaimList{Items: []corev1.PersistentVolumeClaim{claim("kept", nil), claim("of-another", cluster("before")), claim("shop-1", cluster("now"))}}
	r := Readers{Cache: fake.NewClientBuilder().WithScheme(scheme.New()).Build()}
	if err := r.claimVolumes(t.Context(), facts, list); err != nil {
		t.Fatal(err)
	}
	if len(facts.Claims) != 1 || facts.Claims[0].Name != "shop-1" {
		t.Errorf("%+v", facts.Claims)
	}
	if got := pending(facts.Cluster, list.Items); !slices.Equal(got, []string{"shop-1"}) {
		t.Errorf("without a volume: %v", got)
	}
}
