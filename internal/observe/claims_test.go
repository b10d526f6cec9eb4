package observe

import (
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// No claim of a database is left out: what it holds may be data.
func TestEveryClaimIsSeen(t *testing.T) {
	for role, want := range map[string]string{roleData: "", roleWAL: "", "PG_TABLESPACE": "PG_TABLESPACE", "PG_FUTURE": "PG_FUTURE", "": "none"} {
		c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "shop-1", Labels: map[string]string{labelPVCRole: role, labelInstance: "shop-1"}}}
		got, seen := claim(&cnpgv1.Cluster{}, c, nil)
		if !seen || got.Role != want || got.WAL != (role == roleWAL) {
			t.Errorf("role %q: %+v, %v", role, got, seen)
		}
	}
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "shop-9"}}
	if _, seen := claim(&cnpgv1.Cluster{Status: cnpgv1.ClusterStatus{DanglingPVC: []string{"shop-9"}}}, c, nil); seen {
		t.Error("a dangling claim is left for a person")
	}
}
