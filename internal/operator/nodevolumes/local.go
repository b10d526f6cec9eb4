package nodevolumes

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// IsOnlyOn reports whether the node affinity of a PersistentVolume binds it to one node. Each
// alternative must name the node by a label that identifies it. A zone does not, because
// another node of the zone can attach the volume. nodes are all that exist, and no other one
// may match: the labels move with disks that another machine takes over. A node that no
// longer exists has the labels that it gets by default.
func IsOnlyOn(v *corev1.PersistentVolume, node string, nodes []corev1.Node) bool {
	if v.Spec.NodeAffinity == nil || v.Spec.NodeAffinity.Required == nil {
		return false
	}
	required := v.Spec.NodeAffinity.Required
	for i := range nodes {
		name := nodes[i].Name
		if name != node && selects(required, candidate{name: name, labels: labelsOf(name, nodes)}) {
			return false
		}
	}
	own := labelsOf(node, nodes)
	return len(required.NodeSelectorTerms) > 0 && !slices.ContainsFunc(required.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool {
		return !identifies(t, node, own)
	})
}

// identifies reports whether a term names a node by its name, or by a label that no other node
// has by default.
func identifies(t corev1.NodeSelectorTerm, node string, own labels.Set) bool {
	only := func(r corev1.NodeSelectorRequirement, value string) bool {
		return r.Operator == corev1.NodeSelectorOpIn && slices.Equal(r.Values, []string{value})
	}
	return slices.ContainsFunc(t.MatchFields, func(r corev1.NodeSelectorRequirement) bool {
		return r.Key == "metadata.name" && only(r, node)
	}) || slices.ContainsFunc(t.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool {
		return (r.Key == corev1.LabelHostname || slices.Contains(TopologyKeys, r.Key)) && only(r, own[r.Key])
	})
}
