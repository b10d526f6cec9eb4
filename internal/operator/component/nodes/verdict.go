// Package nodes is shared by the kinds of storage that are made on nodes. It judges each
// node by what its agent and its Node report, sums that up in conditions, and says whether
// the profile's classes exist.
package nodes

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Verdict on one node by what was read back: the reason is empty when volumes can be
// made.
type Verdict struct {
	observed.Node
	// reachable is what the Node says of itself. Classes do not follow it: a node that
	// is not Ready for a while keeps its place in them.
	reachable       observed.Reachability
	Reason, Message string
	Kind            outcome.Kind
	// Note about a node that is ready.
	Note string
	// Driver says that what is missing is the CSI driver's to bring.
	Driver bool
}

// StorageFails says that the storage, not the driver, is what the node lacks.
func (v Verdict) StorageFails() bool { return v.Reason != "" && !v.Driver }

// DriverFails says that the node lacks the CSI driver.
func (v Verdict) DriverFails() bool { return v.Driver }

// Remark adds what a kind knows of a node. It goes before what the node lacks, because
// that may follow from it, or is a note about a ready node.
func (v *Verdict) Remark(text string) {
	switch {
	case text == "":
	case v.Reason != "":
		v.Message = text + "; " + v.Message
	case v.Note != "":
		v.Note += "; " + text
	default:
		v.Note = text
	}
}

// now is the verdict with what the Node says before what was read back there, which
// is old while the Node is not Ready.
func (v Verdict) now() Verdict {
	if v.reachable.Holds() {
		return v
	}
	reason, text := v.reachable.Cause(v.Name)
	text = "its Node " + text
	if v.Reason != "" {
		text += "; before: " + v.Message
	}
	v.Reason, v.Message, v.Kind, v.Driver = reason, text, outcome.Wait, false
	return v
}

// maxMessage is the schema's limit of a node's message in a profile's status. The agent
// of a node writes most of the text. The API server rejects the status of the whole
// profile where one message is longer.
const maxMessage = 4096

// Reported is the node in the profile's status. It shortens the message to what the
// schema accepts.
func (v Verdict) Reported() v1alpha1.ProfileNode {
	v = v.now()
	if v.Reason != "" {
		return v1alpha1.ProfileNode{Name: v.Name, Ready: metav1.ConditionFalse, Message: excerpt.Truncate(v.Message, maxMessage)}
	}
	return v1alpha1.ProfileNode{Name: v.Name, Ready: metav1.ConditionTrue, Message: excerpt.Truncate(v.Note, maxMessage)}
}

// Judge each node by what its agent says. Further judges a node whose storage is as
// declared; nil: nothing else is needed.
func Judge(facts observed.Profile, further func(v *Verdict)) []Verdict {
	storages := map[string]*v1alpha1.PgNodeStorage{}
	for _, answer := range facts.Storages {
		storages[answer.Spec.NodeName] = answer
	}
	var out []Verdict
	for _, node := range facts.Nodes {
		v := Verdict{Node: node, reachable: facts.Reachable[node.Name]}
		if !v.storage(storages[node.Name]) && further != nil {
			further(&v)
		}
		out = append(out, v)
	}
	for _, answer := range facts.Storages {
		if r := facts.Reachable[answer.Spec.NodeName]; r.Gone {
			out = append(out, Verdict{Node: observed.Node{Name: answer.Spec.NodeName}, reachable: r})
		}
	}
	return out
}

// storage judges what the agent read back, and says whether it found fault.
func (v *Verdict) storage(s *v1alpha1.PgNodeStorage) bool {
	if s == nil {
		v.Reason, v.Message, v.Kind = v1alpha1.ReasonAgentNotSeen, "its PgNodeStorage was not made yet", outcome.Wait
		return true
	}
	ready := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady)
	// Each volume in memory that is made or removed is a new generation, and says nothing
	// about the node.
	if ready == nil || s.Status.ObservedGeneration != s.Generation && s.Spec.Memory == nil {
		v.Reason, v.Kind = v1alpha1.ReasonAgentNotSeen, outcome.Wait
		v.Message = fmt.Sprintf("no agent has answered for generation %d of PgNodeStorage %s; does a pod of the DaemonSet pgstorage-agent run on the node?", s.Generation, s.Name)
		return true
	}
	if ready.Status == metav1.ConditionTrue {
		return false
	}
	v.Reason, v.Message, v.Kind = ready.Reason, ready.Message, outcome.Wait
	if meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionStalled) {
		v.Kind = outcome.Invalid
	}
	return true
}

// Usable nodes are selected and can have volumes.
func Usable(nodes []Verdict) []Verdict {
	var out []Verdict
	for _, v := range nodes {
		if v.Selected && v.Reason == "" {
			out = append(out, v)
		}
	}
	return out
}
