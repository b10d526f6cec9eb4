package observed

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

// Reachability of a node, as its Node object has it. Only the node's own agent
// renews what was read back there, so it is worth no more than this.
type Reachability struct {
	// Gone: there is no Node object.
	Gone bool
	// Status of the Node's condition Ready with its reason; empty while it has none.
	Status metav1.ConditionStatus
	Reason string
	// Since when it is so.
	Since metav1.Time
}

// Holds where the Node is there and Ready.
func (r Reachability) Holds() bool { return !r.Gone && r.Status == metav1.ConditionTrue }

// Cause is a reason and the message about a node, without the node's name. It names no
// time of a Node that is Ready, so that one at rest changes nothing.
func (r Reachability) Cause(node string) (reason, text string) {
	const worth = "so what was read back there last may no longer hold"
	switch {
	case r.Gone:
		return v1alpha1.ReasonNodeNotFound, "does not exist, " + worth + "; its pool and volumes stay on its disks"
	case r.Holds():
		return v1alpha1.ReasonNodeReady, "is Ready"
	case r.Status == "":
		return v1alpha1.ReasonNodeNotReady, "has not reported whether it is Ready, " + worth + "; see kubectl describe node " + node
	}
	return v1alpha1.ReasonNodeNotReady, fmt.Sprintf("is not Ready since %s (%s: %s), %s; see kubectl describe node %s, and bring it back",
		r.Since.UTC().Format(time.RFC3339), r.Status, r.Reason, worth, node)
}

// Outcome is the condition NodeReachable of the node's PgNodeStorages.
func (r Reachability) Outcome(node string) outcome.Outcome {
	reason, text := r.Cause(node)
	o := outcome.WaitFor(v1alpha1.ConditionNodeReachable, reason, "Node "+node+" "+text)
	if r.Holds() {
		o.Kind = outcome.Done
	}
	o.Informative, o.Unknown = true, !r.Gone && r.Status != metav1.ConditionTrue && r.Status != metav1.ConditionFalse
	return o
}
