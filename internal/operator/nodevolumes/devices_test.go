package nodevolumes

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// What an agent reports about its devices decides about fences. Only lost devices are
// fenced, and devices that wait for their store keep their proof of whole pages.
func TestDevices(t *testing.T) {
	const stripe, mirror = v1alpha1.VdevStripe, v1alpha1.VdevMirror
	for _, tc := range []struct {
		layout         v1alpha1.ZFSVdevType
		health, reason string
		restarts       v1alpha1.ServerLostPolicy
		want           observed.Devices
		detached       string
	}{
		{stripe, "ONLINE", v1alpha1.ReasonDevicesAttached, "", observed.Devices{Condition: observed.DevicesWhole}, ""},
		{stripe, "DEGRADED", v1alpha1.ReasonDevicesAttached, "", observed.Devices{}, ""},
		{stripe, "ONLINE", v1alpha1.ReasonServerLost, v1alpha1.ServerLostWait, observed.Devices{Condition: observed.DevicesLost}, "says so"},
		{stripe, "SUSPENDED", v1alpha1.ReasonServerLost, v1alpha1.ServerLostRebootNode, observed.Devices{Condition: observed.DevicesLost, Restarts: true}, "says so"},
		{stripe, "ONLINE", v1alpha1.ReasonFenced, v1alpha1.ServerLostRebootNode, observed.Devices{Condition: observed.DevicesLost}, "says so"},
		{stripe, "ONLINE", v1alpha1.ReasonStoreUnavailable, "", observed.Devices{Stalls: true}, ""},
		{stripe, "ONLINE", v1alpha1.ReasonReconnecting, "", observed.Devices{Stalls: true}, ""},
		{stripe, "", v1alpha1.ReasonAttaching, "", observed.Devices{}, "says so"},
		{mirror, "DEGRADED", v1alpha1.ReasonServerLost, "", observed.Devices{}, "says so"},
		{mirror, "SUSPENDED", v1alpha1.ReasonServerLost, "", observed.Devices{Condition: observed.DevicesLost}, "says so"},
		{mirror, "DEGRADED", v1alpha1.ReasonFenced, "", observed.Devices{}, "says so"},
		{mirror, "DEGRADED", v1alpha1.ReasonStoreUnavailable, "", observed.Devices{}, ""},
	} {
		t.Run(string(tc.layout)+" "+tc.health+" "+tc.reason, func(t *testing.T) {
			attached := metav1.Condition{Type: v1alpha1.ConditionDevicesAttached, Status: metav1.ConditionFalse, Reason: tc.reason, Message: "says so"}
			if tc.reason == v1alpha1.ReasonDevicesAttached {
				attached.Status = metav1.ConditionTrue
			}
			ready := metav1.Condition{Type: v1alpha1.ConditionPoolReady, Status: metav1.ConditionTrue}
			if tc.health == "SUSPENDED" {
				ready.Status = metav1.ConditionFalse
			}
			s := &v1alpha1.PgNodeStorage{}
			s.Spec.NetworkDevices = &v1alpha1.NodeNetworkDevices{Layout: tc.layout, OnServerLost: tc.restarts}
			s.Status.Conditions, s.Status.Pool = []metav1.Condition{attached, ready}, &v1alpha1.ObservedPool{Health: tc.health}
			tc.want.Reason, tc.want.Message = tc.reason, "says so"
			if got := devices(s); got != tc.want {
				t.Errorf("%+v, want %+v", got, tc.want)
			}
			if got := detached(s); got != tc.detached {
				t.Errorf("detached %q, want %q", got, tc.detached)
			}
		})
	}
}
