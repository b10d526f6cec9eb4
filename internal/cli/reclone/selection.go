package reclone

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/nodevolumes"
)

// Selection of instances: one by its name, or those whose volumes were on a node.
type Selection struct {
	// Name of the instance; empty for those of a node.
	Name string
	// Node that is lost. Nodes are all that exist, and Volumes all PersistentVolumes by name.
	Node    string
	Nodes   []corev1.Node
	Volumes map[string]corev1.PersistentVolume
	// Unread says why Nodes or Volumes could not be read; nil if both are complete.
	Unread error
}

// wants reports whether an instance is selected. The scheduler chose the node of a claim for
// the first pod, so that a network volume can be elsewhere now; intact finds that.
func (s Selection) wants(i *Instance) bool {
	if s.Node == "" {
		return i.Name == s.Name
	}
	return slices.ContainsFunc(i.Claims, func(c corev1.PersistentVolumeClaim) bool {
		return c.Annotations[naming.AnnotationSelectedNode] == s.Node || c.Spec.VolumeName != "" && s.elsewhere(&c) == ""
	})
}

// intact says why the volumes of an instance may exist without the node; empty if all of them
// are on it. A claim without a volume has nothing to lose.
func (s Selection) intact(i *Instance) string {
	if s.Node == "" {
		return ""
	}
	why := ""
	if i.Pod != nil && i.Pod.Spec.NodeName != "" && i.Pod.Spec.NodeName != s.Node {
		why = "its pod is scheduled to node " + i.Pod.Spec.NodeName
	}
	for n := 0; n < len(i.Claims) && why == ""; n++ {
		if c := &i.Claims[n]; c.Spec.VolumeName != "" {
			why = s.elsewhere(c)
		}
	}
	if why == "" {
		return ""
	}
	return fmt.Sprintf("%s; if its volumes are lost all the same, name it: kubectl pgstorage reclone %s -n %s", why, i.Name, i.Namespace)
}

// elsewhere says why the volume of a claim may exist without the node; empty if it is on it.
func (s Selection) elsewhere(c *corev1.PersistentVolumeClaim) string {
	name := c.Spec.VolumeName
	v, exists := s.Volumes[name]
	switch {
	case s.Unread != nil:
		return fmt.Sprintf("cannot read where PersistentVolume %s is: %v", name, s.Unread)
	case !exists:
		return fmt.Sprintf("PersistentVolume %s does not exist, so its node is unknown", name)
	case !nodevolumes.IsBoundTo(&v, c):
		return fmt.Sprintf("PersistentVolume %s is not bound to claim %s", name, c.Name)
	case !nodevolumes.IsOnlyOn(&v, s.Node, s.Nodes):
		return fmt.Sprintf("the node affinity of PersistentVolume %s does not bind it to node %s alone, so it may be intact", name, s.Node)
	}
	return ""
}
