package zfslocalpv

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/naming"
	"github.com/pgstorage/pgstorage/internal/state"
)

// verdict on one node by what was read back: reason and message are empty when
// volumes can be made.
type verdict struct {
	state.Node
	// reachable is what the Node says of itself. Classes do not follow it: a node that
	// is not Ready for a while keeps its place in them.
	reachable       state.Reachability
	reason, message string
	kind            state.OutcomeKind
	// driver says that what is missing is the CSI driver's to bring.
	driver bool
}

// now is the verdict with what the Node says before what was read back there, which
// is old while the Node is not Ready.
func (v verdict) now() verdict {
	if v.reachable.Holds() {
		return v
	}
	reason, text := v.reachable.Cause(v.Name)
	text = "its Node " + text
	if v.reason != "" {
		text += "; before: " + v.message
	}
	v.reason, v.message, v.kind, v.driver = reason, text, state.Wait, false
	return v
}

func (v verdict) reported() v1alpha1.ProfileNode {
	v = v.now()
	ready := metav1.ConditionTrue
	if v.reason != "" {
		ready = metav1.ConditionFalse
	}
	return v1alpha1.ProfileNode{Name: v.Name, Ready: ready, Message: v.message}
}

func judgeNodes(p *v1alpha1.PgStorageProfile, facts state.ProfileFacts) []verdict {
	storages := map[string]*v1alpha1.PgNodeStorage{}
	for _, s := range facts.Storages {
		storages[s.Spec.NodeName] = s
	}
	var out []verdict
	for _, node := range facts.Nodes {
		v := verdict{Node: node, reachable: facts.Reachable[node.Name]}
		if !v.storage(storages[node.Name]) {
			v.csi(p, facts)
		}
		out = append(out, v)
	}
	for _, s := range facts.Storages {
		if r := facts.Reachable[s.Spec.NodeName]; r.Gone {
			out = append(out, verdict{Node: state.Node{Name: s.Spec.NodeName}, reachable: r})
		}
	}
	return out
}

// storage judges what the agent read back, and says whether it found fault.
func (v *verdict) storage(s *v1alpha1.PgNodeStorage) bool {
	if s == nil {
		v.reason, v.message, v.kind = v1alpha1.ReasonAgentNotSeen, "its PgNodeStorage was not made yet", state.Wait
		return true
	}
	ready := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || s.Status.ObservedGeneration != s.Generation {
		v.reason, v.kind = v1alpha1.ReasonAgentNotSeen, state.Wait
		v.message = fmt.Sprintf("no agent has answered for generation %d of PgNodeStorage %s; does a pod of the DaemonSet pgstorage-agent run on the node?", s.Generation, s.Name)
		return true
	}
	if ready.Status == metav1.ConditionTrue {
		return false
	}
	v.reason, v.message, v.kind = ready.Reason, ready.Message, state.Wait
	if meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionStalled) {
		v.kind = state.Invalid
	}
	return true
}

// csi judges what the driver reports of the node.
func (v *verdict) csi(p *v1alpha1.PgStorageProfile, facts state.ProfileFacts) {
	pool := p.Spec.ZFSLocalPV.Pool.Name
	v.driver, v.kind = true, state.Wait
	switch {
	case !facts.ZFSLocalPV:
		v.reason, v.message = v1alpha1.ReasonDriverNotInstalled, "OpenEBS zfs-localpv is not installed"
	case v.TopologyKey == "":
		v.reason, v.message = v1alpha1.ReasonDriverNotOnNode, "the CSI driver "+Driver+" is not registered on the node; does a pod of its node DaemonSet run there?"
	case !slices.Contains(v.Pools, pool):
		v.reason, v.message = v1alpha1.ReasonPoolNotListed, fmt.Sprintf("the driver's ZFSNode does not list pool %s yet; it is renewed every 60 s", pool)
	default:
		v.driver, v.kind = false, state.Done
	}
}

// usable nodes are selected and can have volumes.
func usable(nodes []verdict) []verdict {
	var out []verdict
	for _, v := range nodes {
		if v.Selected && v.reason == "" {
			out = append(out, v)
		}
	}
	return out
}

func driverOutcome(facts state.ProfileFacts, nodes []verdict) state.Outcome {
	const c = v1alpha1.ConditionDriverReady
	if !facts.ZFSLocalPV {
		return state.WaitFor(c, v1alpha1.ReasonDriverNotInstalled, "OpenEBS zfs-localpv is not installed; install its Helm chart (https://openebs.github.io/zfs-localpv)")
	}
	if o, bad := worst(c, nodes, func(v verdict) bool { return v.driver }); bad {
		return o
	}
	return state.DoneWith(c, v1alpha1.ReasonDriverReady, "the CSI driver lists the pool on every node that is ready")
}

func nodesOutcome(p *v1alpha1.PgStorageProfile, nodes []verdict) state.Outcome {
	const c = v1alpha1.ConditionNodesReady
	if !slices.ContainsFunc(nodes, func(v verdict) bool { return v.Selected }) {
		return state.WaitFor(c, v1alpha1.ReasonNoNodeSelected, fmt.Sprintf("spec.nodeSelector: no node has the labels %s; label one with kubectl label node NAME %s", selectorText(p, ","), selectorText(p, " ")))
	}
	var current []verdict
	for _, v := range nodes {
		current = append(current, v.now())
	}
	if o, bad := worst(c, current, func(v verdict) bool { return v.reason != "" && !v.driver }); bad {
		return o
	}
	return state.DoneWith(c, v1alpha1.ReasonNodesReady, fmt.Sprintf("pool %s and its datasets were read back as declared on %d of %d nodes", p.Spec.ZFSLocalPV.Pool.Name, len(nodes), len(nodes)))
}

// worst joins what is wrong with nodes. One that needs a person outranks those
// that wait, and these the ones that are only out of reach: volumes can be made on
// the others.
func worst(condition string, nodes []verdict, wrong func(verdict) bool) (state.Outcome, bool) {
	o := state.Outcome{Condition: condition}
	var messages []string
	for _, v := range nodes {
		if !wrong(v) {
			continue
		}
		if o.Reason == "" || v.kind > o.Kind || v.kind == o.Kind && outOfReach(o.Reason) {
			o.Kind, o.Reason = v.kind, v.reason
		}
		messages = append(messages, v.Name+": "+v.message)
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

func classOutcome(p *v1alpha1.PgStorageProfile, facts state.ProfileFacts) state.Outcome {
	const c = v1alpha1.ConditionStorageReady
	var missing []string
	for _, name := range (Type{}).Classes(p) {
		class := facts.Classes[name]
		switch {
		case class == nil:
			missing = append(missing, name)
		case class.Labels[naming.LabelProfile] != p.Name || class.Labels[naming.LabelManagedBy] != naming.ManagedBy:
			return state.InvalidBecause(c, v1alpha1.ReasonStorageClassNotOwned, fmt.Sprintf("StorageClass %s exists and is not this profile's; delete it if nothing needs it, or create the profile under another name", name))
		}
	}
	if len(missing) > 0 {
		return state.WaitFor(c, v1alpha1.ReasonStorageClassNotFound, fmt.Sprintf("StorageClass %s is made once a node is ready", strings.Join(missing, ", ")))
	}
	return state.DoneWith(c, v1alpha1.ReasonStorageClassApplied, "every StorageClass of the profile exists")
}
