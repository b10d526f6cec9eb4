package zfsvolumes

import (
	"fmt"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
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
	// driver says that what is missing is the CSI driver's to bring.
	driver bool
}

// PoolFails says that the pool, not the driver, is what the node lacks.
func (v Verdict) PoolFails() bool { return v.Reason != "" && !v.driver }

// Tell adds what a kind knows of a node. It goes before what the node lacks, because
// that may follow from it, or is a note about a ready node.
func (v *Verdict) Tell(text string) {
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
	v.Reason, v.Message, v.Kind, v.driver = reason, text, outcome.Wait, false
	return v
}

func (v Verdict) reported() v1alpha1.ProfileNode {
	v = v.now()
	if v.Reason != "" {
		return v1alpha1.ProfileNode{Name: v.Name, Ready: metav1.ConditionFalse, Message: v.Message}
	}
	return v1alpha1.ProfileNode{Name: v.Name, Ready: metav1.ConditionTrue, Message: v.Note}
}

// Judge each node by what its agent and the driver say.
func (s Storage) Judge(facts observed.Profile) []Verdict {
	storages := map[string]*v1alpha1.PgNodeStorage{}
	for _, answer := range facts.Storages {
		storages[answer.Spec.NodeName] = answer
	}
	var out []Verdict
	for _, node := range facts.Nodes {
		v := Verdict{Node: node, reachable: facts.Reachable[node.Name]}
		if !v.storage(storages[node.Name]) {
			v.csi(s.Pool, facts)
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
	if ready == nil || s.Status.ObservedGeneration != s.Generation {
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

// csi judges what the driver reports of the node.
func (v *Verdict) csi(pool string, facts observed.Profile) {
	v.driver, v.Kind = true, outcome.Wait
	switch {
	case !facts.ZFSLocalPV:
		v.Reason, v.Message = v1alpha1.ReasonDriverNotInstalled, "OpenEBS zfs-localpv is not installed"
	case v.TopologyKey == "":
		v.Reason, v.Message = v1alpha1.ReasonDriverNotOnNode, "the CSI driver "+Driver+" is not registered on the node; does a pod of its node DaemonSet run there?"
	case !slices.Contains(v.Pools, pool):
		v.Reason, v.Message = v1alpha1.ReasonPoolNotListed, fmt.Sprintf("the driver's ZFSNode does not list pool %s yet; it is renewed every 60 s", pool)
	default:
		v.driver, v.Kind = false, outcome.Done
	}
}

// usable nodes are selected and can have volumes.
func usable(nodes []Verdict) []Verdict {
	var out []Verdict
	for _, v := range nodes {
		if v.Selected && v.Reason == "" {
			out = append(out, v)
		}
	}
	return out
}

func driverOutcome(facts observed.Profile, nodes []Verdict) outcome.Outcome {
	const c = v1alpha1.ConditionDriverReady
	if !facts.ZFSLocalPV {
		return outcome.WaitFor(c, v1alpha1.ReasonDriverNotInstalled, "OpenEBS zfs-localpv is not installed; install its Helm chart (https://openebs.github.io/zfs-localpv)")
	}
	if o, bad := worst(c, nodes, func(v Verdict) bool { return v.driver }); bad {
		return o
	}
	return outcome.DoneWith(c, v1alpha1.ReasonDriverReady, "the CSI driver lists the pool on every node that is ready")
}

func (s Storage) nodesOutcome(nodes []Verdict) outcome.Outcome {
	const c = v1alpha1.ConditionNodesReady
	if !slices.ContainsFunc(nodes, func(v Verdict) bool { return v.Selected }) {
		return outcome.WaitFor(c, v1alpha1.ReasonNoNodeSelected, fmt.Sprintf("spec.nodeSelector: no node has the labels %s; label one with kubectl label node NAME %s", selectorText(s.Profile, ","), selectorText(s.Profile, " ")))
	}
	var current []Verdict
	for _, v := range nodes {
		current = append(current, v.now())
	}
	if o, bad := worst(c, current, Verdict.PoolFails); bad {
		return o
	}
	return outcome.DoneWith(c, v1alpha1.ReasonNodesReady, fmt.Sprintf("pool %s and its datasets were read back as declared on %d of %d nodes", s.Pool, len(nodes), len(nodes)))
}

// worst joins what is wrong with nodes. A node that needs an administrator outranks
// those that wait. These outrank unreachable nodes, because volumes can be provisioned
// on the others.
func worst(condition string, nodes []Verdict, wrong func(Verdict) bool) (outcome.Outcome, bool) {
	o := outcome.Outcome{Condition: condition}
	var messages []string
	for _, v := range nodes {
		if !wrong(v) {
			continue
		}
		if o.Reason == "" || v.Kind > o.Kind || v.Kind == o.Kind && outOfReach(o.Reason) {
			o.Kind, o.Reason = v.Kind, v.Reason
		}
		messages = append(messages, v.Name+": "+v.Message)
	}
	o.Message = fmt.Sprintf("%d of %d nodes are not ready: %s", len(messages), len(nodes), strings.Join(messages, "; "))
	return o, len(messages) > 0
}

func outOfReach(reason string) bool {
	return reason == v1alpha1.ReasonNodeNotReady || reason == v1alpha1.ReasonNodeNotFound
}

func selectorText(p *v1alpha1.PgStorageProfile, separator string) string {
	var out []string
	for k, v := range p.Spec.NodeSelector {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return strings.Join(out, separator)
}

// classOutcome says in a condition whether the profile's classes exist.
func (s Storage) classOutcome(condition string, facts observed.Profile) outcome.Outcome {
	var missing []string
	for _, name := range s.ClassNames() {
		class := facts.Classes[name]
		switch {
		case class == nil:
			missing = append(missing, name)
		case !Owned(class, s.Profile.Name):
			return NotOwned(condition, name)
		}
	}
	if len(missing) > 0 {
		return outcome.WaitFor(condition, v1alpha1.ReasonStorageClassNotFound, fmt.Sprintf("StorageClass %s is made once a node is ready", strings.Join(missing, ", ")))
	}
	return outcome.DoneWith(condition, v1alpha1.ReasonStorageClassApplied, "every StorageClass of the profile exists")
}

// Owned says whether a class is the profile's own.
func Owned(class *storagev1.StorageClass, profile string) bool {
	return class.Labels[naming.LabelProfile] == profile && class.Labels[naming.LabelManagedBy] == naming.ManagedBy
}

// NotOwned says in a condition that a class belongs to another owner.
func NotOwned(condition, name string) outcome.Outcome {
	return outcome.InvalidBecause(condition, v1alpha1.ReasonStorageClassNotOwned, fmt.Sprintf("StorageClass %s exists and is not this profile's; delete it if nothing needs it, or create the profile under another name", name))
}
