package observe

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// A load of tables into a pool that is nearly empty does not keep branches and verifications from
// it.
func TestNearlyFull(t *testing.T) {
	for name, tc := range map[string]struct {
		status metav1.ConditionStatus
		reason string
		want   string
	}{
		"healthy":         {metav1.ConditionTrue, v1alpha1.ReasonHealthy, ""},
		"not read":        {metav1.ConditionUnknown, v1alpha1.ReasonNotReadBack, ""},
		"full in a day":   {metav1.ConditionFalse, v1alpha1.ReasonPoolFilling, ""},
		"without a tenth": {metav1.ConditionFalse, v1alpha1.ReasonPoolNearlyFull, "PgNodeStorage zfs.a is PoolNearlyFull"},
	} {
		s := v1alpha1.PgNodeStorage{ObjectMeta: metav1.ObjectMeta{Name: naming.NodeStorage("zfs", "a")}, Spec: v1alpha1.PgNodeStorageSpec{Profile: "zfs", NodeName: "a"}}
		s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionCapacityHealthy, Status: tc.status, Reason: tc.reason}}
		if got := nearlyFull("zfs", []v1alpha1.PgNodeStorage{s}); got != tc.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
