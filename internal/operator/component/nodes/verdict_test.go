package nodes

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// The agent of a node writes its message, in up to 32768 characters. The schema of the
// profile's status allows 4096, and the API server rejects the whole status otherwise.
func TestMessagesOfNodesFitTheStatus(t *testing.T) {
	reachable := observed.Reachability{Status: metav1.ConditionTrue}
	silent := observed.Reachability{Status: metav1.ConditionUnknown, Reason: "NodeStatusUnknown"}
	for _, tc := range []struct {
		name      string
		reachable observed.Reachability
		agent     int
		remark    string
		begins    string
	}{
		{"a message that fits", reachable, 4096, "", "xxx"},
		{"a longer one", reachable, 30000, "", "xxx"},
		{"one that fits, of a Node that is not Ready", silent, 4096, "", "its Node is not Ready since "},
		{"a longer one, of a Node that is not Ready", silent, 30000, "", "its Node is not Ready since "},
		{"one that fits, after a remark", reachable, 4096, "store a: down", "store a: down; xxx"},
		{"a long remark about a ready node", reachable, 0, strings.Repeat("é", 4000), "ééé"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := Verdict{Node: observed.Node{Name: "n1", Selected: true}, reachable: tc.reachable}
			if tc.agent > 0 {
				v.Reason, v.Message = v1alpha1.ReasonPoolSuspended, strings.Repeat("x", tc.agent)
			}
			v.Remark(tc.remark)
			got := v.Reported().Message
			if len(got) > 4096 || !strings.HasPrefix(got, tc.begins) {
				t.Errorf("%d bytes, %.60q; want at most 4096 that begin %q", len(got), got, tc.begins)
			}
			if tc.agent == 4096 && tc.begins == "xxx" && len(got) != 4096 {
				t.Errorf("a message that fits was shortened to %d bytes", len(got))
			}
		})
	}
}
