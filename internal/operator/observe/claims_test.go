package observe

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/nodevolumes"
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
