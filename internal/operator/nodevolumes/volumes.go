package nodevolumes

import (
	"fmt"
	"maps"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// poolAttribute of a PersistentVolume names the parent of its dataset (zfs-localpv
// pkg/driver/controller.go).
const poolAttribute = "openebs.io/poolname"

// located is a volume as the agent of one node read it back.
type located struct {
	node, unreachable string
	volume            *v1alpha1.ObservedVolume
	// detached lists the network devices below it that are not attached.
	detached string
}

// ByNode is what the agents of a profile read back. Each agent is believed about
// its own node only, so everything is kept by node.
type ByNode struct {
	nodes   []candidate
	volumes map[string][]located
	// memory has the volumes in memory, and hostnames those of all Nodes that exist.
	memory    map[string][]inMemory
	hostnames map[string]bool
	// unlisted says of a node that its status has no room for all volumes.
	unlisted map[string]string
}

// candidate is a node whose agent reports volumes, with the labels that the affinity of
// a PersistentVolume is compared with.
type candidate struct {
	name   string
	labels labels.Set
}

// Read returns what the agents of a profile have read back. A node that no longer exists
// gets the labels that the driver gives to a node by default.
func Read(profile string, storages []v1alpha1.PgNodeStorage, nodes []corev1.Node) ByNode {
	out := ByNode{volumes: map[string][]located{}, memory: map[string][]inMemory{}, hostnames: map[string]bool{}, unlisted: map[string]string{}}
	for i := range nodes {
		out.hostnames[nodes[i].Labels[corev1.LabelHostname]] = true
	}
	for i := range storages {
		s := &storages[i]
		if !Genuine(profile, s) {
			continue
		}
		name := s.Spec.NodeName
		out.nodes = append(out.nodes, candidate{name: name, labels: labelsOf(name, nodes)})
		out.memory[name] = readMemory(s)
		if !meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionPoolReady) {
			continue // what was read before the pool was lost proves nothing now
		}
		for j := range s.Status.Volumes {
			out.volumes[name] = append(out.volumes[name], located{node: name, unreachable: unreachable(s), volume: &s.Status.Volumes[j], detached: detached(s)})
		}
		if n := s.Status.VolumeCount; n != nil && int(*n) > len(s.Status.Volumes) {
			out.unlisted[name] = fmt.Sprintf("; status.volumes of PgNodeStorage %s lists %d of %d volumes (condition StatusComplete)", s.Name, len(s.Status.Volumes), *n)
		}
	}
	return out
}

// Genuine reports whether the manager rendered a PgNodeStorage for this profile. Its
// name follows from profile and node, so that no second object speaks for a node.
func Genuine(profile string, s *v1alpha1.PgNodeStorage) bool {
	return s.Spec.Profile == profile && s.Name == naming.NodeStorage(profile, s.Spec.NodeName)
}

func labelsOf(node string, nodes []corev1.Node) labels.Set {
	out := labels.Set{corev1.LabelHostname: node}
	for _, key := range TopologyKeys {
		out[key] = node
	}
	if i := slices.IndexFunc(nodes, func(n corev1.Node) bool { return n.Name == node }); i >= 0 {
		maps.Copy(out, nodes[i].Labels)
	}
	return out
}

// home is the one node that a PersistentVolume belongs to by its node affinity, which
// only the driver writes. Labels of a Node can be its kubelet's own words: where two
// nodes match, neither is believed. The problem says why there is no such node.
func (o ByNode) home(v *corev1.PersistentVolume) (node, problem string) {
	if v.Spec.NodeAffinity == nil || v.Spec.NodeAffinity.Required == nil {
		return "", fmt.Sprintf("PersistentVolume %s has no node affinity, so no agent is believed about it", v.Name)
	}
	var found []string
	for _, n := range o.nodes {
		if selects(v.Spec.NodeAffinity.Required, n) {
			found = append(found, n.name)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Sprintf("PersistentVolume %s belongs by its node affinity to no node of the profile", v.Name)
	case 1:
		return found[0], ""
	}
	slices.Sort(found)
	return "", fmt.Sprintf("nodes %v all match the node affinity of PersistentVolume %s, so none of their agents is believed about it. Give each node its own label %s", found, v.Name, TopologyKeys[0])
}

// find what the agent of a volume's own node read back.
func (o ByNode) find(node string, v *corev1.PersistentVolume) (found located, problem string) {
	if v.Spec.CSI == nil || v.Spec.CSI.Driver != Driver {
		return located{}, fmt.Sprintf("PersistentVolume %s is not provisioned by %s", v.Name, Driver)
	}
	parent := v.Spec.CSI.VolumeAttributes[poolAttribute]
	var matches []located
	for _, l := range o.volumes[node] {
		if path.Base(l.volume.Name) == v.Spec.CSI.VolumeHandle && (parent == "" || path.Dir(l.volume.Name) == parent) {
			matches = append(matches, l)
		}
	}
	if len(matches) == 1 {
		return matches[0], ""
	}
	return located{}, fmt.Sprintf("the agent of node %s has not read back volume %s%s", node, v.Name, o.unlisted[node])
}

// Locate fills in what the agent of a claim's own node reports about its volume, or in
// Unproved why no agent is believed.
func (o ByNode) Locate(out *observed.Claim, c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) {
	switch {
	case c.Spec.VolumeName == "":
		return
	case v == nil:
		out.Unproved = fmt.Sprintf("PersistentVolume %s does not exist", c.Spec.VolumeName)
		return
	case !IsBoundTo(v, c):
		out.Unproved = fmt.Sprintf("PersistentVolume %s is not bound to this claim", v.Name)
		return
	}
	if ofMemory(v) {
		o.locateInMemory(out, v)
		return
	}
	node, problem := o.home(v)
	if problem != "" {
		out.Unproved = problem
		return
	}
	out.Home = node
	found, problem := o.find(node, v)
	if problem != "" {
		out.Unproved = problem
		return
	}
	out.Node, out.Observed, out.Detached, out.Unreachable = node, found.volume, found.detached, found.unreachable
}

// IsBoundTo reports whether a PersistentVolume is bound to a claim. Everybody who may
// create a claim may write the name of any volume into it.
func IsBoundTo(v *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim) bool {
	ref := v.Spec.ClaimRef
	return ref != nil && ref.Namespace == c.Namespace && ref.Name == c.Name && (ref.UID == "" || ref.UID == c.UID)
}

// selects evaluates a node selector as the scheduler does: terms are alternatives, and
// an empty one selects nothing.
func selects(s *corev1.NodeSelector, n candidate) bool {
	return slices.ContainsFunc(s.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool {
		if len(t.MatchExpressions)+len(t.MatchFields) == 0 {
			return false
		}
		return all(t.MatchExpressions, n.labels) && all(t.MatchFields, labels.Set{"metadata.name": n.name})
	})
}

var operators = map[corev1.NodeSelectorOperator]selection.Operator{
	corev1.NodeSelectorOpIn: selection.In, corev1.NodeSelectorOpNotIn: selection.NotIn,
	corev1.NodeSelectorOpExists: selection.Exists, corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist,
	corev1.NodeSelectorOpGt: selection.GreaterThan, corev1.NodeSelectorOpLt: selection.LessThan,
}

// all requirements hold; one that cannot be evaluated does not.
func all(requirements []corev1.NodeSelectorRequirement, of labels.Labels) bool {
	for _, r := range requirements {
		requirement, err := labels.NewRequirement(r.Key, operators[r.Operator], r.Values)
		if err != nil || !requirement.Matches(of) {
			return false
		}
	}
	return true
}
