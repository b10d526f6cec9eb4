package status

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// foreign returns an object of another operator. Its state follows from what its kind
// reports: a phase, a count of pods, or a condition Ready.
func foreign(o *unstructured.Unstructured) Tree {
	i := Tree{Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(), State: view.Exists}
	switch o.GetKind() {
	case "DaemonSet":
		daemonSet(&i, o)
	case "Pod":
		unstructuredPod(&i, o)
	case "CephCluster", "CephBlockPool":
		ceph(&i, o)
	}
	if o.GetDeletionTimestamp() != nil {
		i.Details = append(i.Details, "deleting")
	}
	return i
}

func text(o *unstructured.Unstructured, fields ...string) string {
	// A field of another type counts as absent.
	s, _, _ := unstructured.NestedString(o.Object, fields...)
	return s
}

func count(o *unstructured.Unstructured, fields ...string) int64 {
	n, _, _ := unstructured.NestedInt64(o.Object, fields...)
	return n
}

func daemonSet(i *Tree, o *unstructured.Unstructured) {
	ready, want := count(o, "status", "numberReady"), count(o, "status", "desiredNumberScheduled")
	i.Details = append(i.Details, fmt.Sprintf("%d of %d pods ready", ready, want))
	i.State = view.Ready
	if ready < want || count(o, "status", "observedGeneration") < o.GetGeneration() {
		i.State, i.Reason = view.Waiting, "PodsNotReady"
	}
}

func unstructuredPod(i *Tree, o *unstructured.Unstructured) {
	i.Details = append(i.Details, "node "+text(o, "spec", "nodeName"))
	i.State, i.Reason = view.Waiting, text(o, "status", "phase")
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		fields, _ := c.(map[string]any)
		if fields["type"] == "Ready" && fields["status"] == "True" {
			i.State, i.Reason = view.Ready, ""
		}
	}
}

// ceph sets the state from the phase that Rook reports. The profile evaluates the health
// of the cluster, because it knows which checks matter.
func ceph(i *Tree, o *unstructured.Unstructured) {
	i.State, i.Reason, i.Message = view.Waiting, text(o, "status", "phase"), text(o, "status", "message")
	switch i.Reason {
	case "Ready", "Connected":
		i.State = view.Ready
	case "":
		i.State, i.Reason, i.Message = view.Unknown, NotObserved, "Rook has not observed it yet; check that its operator is running"
	}
	if health := text(o, "status", "ceph", "health"); health != "" {
		i.Details = append(i.Details, health)
	}
}
