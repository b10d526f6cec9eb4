package nodevolumes

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// What an agent reports of devices and pools that are as they should be.
const (
	attached = "Attached"
	online   = "ONLINE"
	degraded = "DEGRADED"
)

// Devices returns the state of each node's network devices; nil for profiles without.
func Devices(profile string, storages []v1alpha1.PgNodeStorage) map[string]observed.Devices {
	var out map[string]observed.Devices
	for i := range storages {
		s := &storages[i]
		if s.Spec.NetworkDevices == nil || !Genuine(profile, s) {
			continue
		}
		if out == nil {
			out = map[string]observed.Devices{}
		}
		out[s.Spec.NodeName] = devices(s)
	}
	return out
}

func devices(s *v1alpha1.PgNodeStorage) observed.Devices {
	out := observed.Devices{Message: "its agent has not answered yet"}
	condition := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionDevicesAttached)
	if condition == nil {
		return out
	}
	out.Reason, out.Message = condition.Reason, condition.Message
	switch {
	case condition.Status == metav1.ConditionTrue && poolIs(s, online):
		out.Condition = observed.DevicesWhole
	case condition.Status != metav1.ConditionFalse || mirrorServes(s):
	case slices.Contains(lost, condition.Reason):
		out.Condition = observed.DevicesLost
		out.Restarts = condition.Reason == v1alpha1.ReasonServerLost && s.Spec.NetworkDevices.OnServerLost == v1alpha1.ServerLostRebootNode
	default:
		out.Stalls = slices.Contains(stalled, condition.Reason)
	}
	return out
}

// Reasons of devices that a pool has lost, and of those that it waits for. A waiting
// pool needs no fence: it acknowledges nothing meanwhile, and resumes where it was.
var (
	lost    = []string{v1alpha1.ReasonServerLost, v1alpha1.ReasonFenced}
	stalled = []string{v1alpha1.ReasonStoreUnavailable, v1alpha1.ReasonReconnecting}
)

// mirrorServes: a mirror that lost some of its devices keeps serving with the others.
func mirrorServes(s *v1alpha1.PgNodeStorage) bool {
	return s.Spec.NetworkDevices.Layout == v1alpha1.VdevMirror && (poolIs(s, online) || poolIs(s, degraded))
}

func poolIs(s *v1alpha1.PgNodeStorage, health string) bool {
	return meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionPoolReady) && s.Status.Pool != nil && s.Status.Pool.Health == health
}

// detached says which network devices of a node are not attached. It is empty where the
// node declares none, where all are attached, and where they only wait for their store,
// which loses nothing.
func detached(s *v1alpha1.PgNodeStorage) string {
	if s.Spec.NetworkDevices == nil || slices.Contains(stalled, devices(s).Reason) {
		return ""
	}
	var out []string
	for _, d := range s.Status.NetworkDevices {
		if d.State != attached {
			out = append(out, fmt.Sprintf("%s of store %s is %s", d.Export, d.Server, d.State))
		}
	}
	if condition := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionDevicesAttached); len(out) == 0 && (condition == nil || condition.Status != metav1.ConditionTrue) {
		out = append(out, devices(s).Message)
	}
	return strings.Join(out, ", ")
}
