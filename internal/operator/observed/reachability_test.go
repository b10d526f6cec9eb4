package observed

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

func TestReachability(t *testing.T) {
	since := metav1.NewTime(time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("", 3600)))
	for _, tc := range []struct {
		name    string
		r       Reachability
		kind    outcome.Kind
		unknown bool
		reason  string
		message string
	}{
		{"ready", Reachability{Status: metav1.ConditionTrue, Reason: "KubeletReady", Since: since}, outcome.Done, false, v1alpha1.ReasonNodeReady, "Node n1 is Ready"},
		{
			"powered off", Reachability{Status: metav1.ConditionUnknown, Reason: "NodeStatusUnknown", Since: since}, outcome.Wait, true, v1alpha1.ReasonNodeNotReady,
			"Node n1 is not Ready since 2026-03-01T12:00:00Z (Unknown: NodeStatusUnknown), so what was read back there last may no longer hold; see kubectl describe node n1, and bring it back",
		},
		{
			"the kubelet says so", Reachability{Status: metav1.ConditionFalse, Reason: "KubeletNotReady", Since: since}, outcome.Wait, false, v1alpha1.ReasonNodeNotReady,
			"Node n1 is not Ready since 2026-03-01T12:00:00Z (False: KubeletNotReady), so what was read back there last may no longer hold; see kubectl describe node n1, and bring it back",
		},
		{
			"never reported", Reachability{}, outcome.Wait, true, v1alpha1.ReasonNodeNotReady,
			"Node n1 has not reported whether it is Ready, so what was read back there last may no longer hold; see kubectl describe node n1",
		},
		{
			"gone", Reachability{Gone: true}, outcome.Wait, false, v1alpha1.ReasonNodeNotFound,
			"Node n1 does not exist, so what was read back there last may no longer hold; its pool and volumes stay on its disks",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := outcome.Outcome{Condition: v1alpha1.ConditionNodeReachable, Kind: tc.kind, Reason: tc.reason, Message: tc.message, Informative: true, Unknown: tc.unknown}
			if got := tc.r.Outcome("n1"); got != want {
				t.Errorf("%+v\nwant %+v", got, want)
			}
			if got := tc.r.Holds(); got != (tc.kind == outcome.Done) {
				t.Errorf("holds: %v", got)
			}
		})
	}
}
