package nodevolumes

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// provisionedBy of a PersistentVolume names the provisioner that made it. Who may create
// PersistentVolumes administers the cluster.
const provisionedBy = "pv.kubernetes.io/provisioned-by"

// InMemory is the sum in bytes of the volumes in memory that a PgNodeStorage declares.
func InMemory(s *v1alpha1.PgNodeStorage) int64 {
	if s.Spec.Memory == nil {
		return 0
	}
	var sum int64
	for _, v := range s.Spec.Memory.Volumes {
		sum += v.Size.Value()
	}
	return sum
}

// ofMemory reports whether a volume is of a profile of type Memory.
func ofMemory(v *corev1.PersistentVolume) bool {
	return v.Spec.Local != nil && v.Annotations[provisionedBy] == naming.MemoryProvisioner
}

// locateInMemory fills in what the agent of the volume's node reports of it. The path of
// the volume contains the incarnation of its tmpfs, so that another one is not the volume.
func (o ByNode) locateInMemory(out *observed.Claim, v *corev1.PersistentVolume) {
	node, problem := o.home(v)
	if problem != "" {
		out.Unproved = problem
		if o.gone(v) {
			out.Lost = "its node does not exist any more"
		}
		return
	}
	out.Home, out.Node = node, node
	i := slices.IndexFunc(o.memory[node], func(m inMemory) bool { return m.volume.Name == v.Name })
	if i < 0 {
		out.Unproved = fmt.Sprintf("the agent of node %s has not read back volume %s", node, v.Name)
		return
	}
	found := o.memory[node][i]
	out.Memory, out.Unreachable = found.volume, found.unreachable
	if found.volume.State == v1alpha1.MemoryVolumeLost || found.volume.Path != v.Spec.Local.Path {
		out.Lost = fmt.Sprintf("its tmpfs on node %s is gone, as after a boot of the node", node)
	}
}

// gone reports whether no Node has the host name that the volume is bound to.
func (o ByNode) gone(v *corev1.PersistentVolume) bool {
	if v.Spec.NodeAffinity == nil || v.Spec.NodeAffinity.Required == nil {
		return false
	}
	for _, term := range v.Spec.NodeAffinity.Required.NodeSelectorTerms {
		for _, e := range term.MatchExpressions {
			if e.Key == corev1.LabelHostname && slices.ContainsFunc(e.Values, func(name string) bool { return o.hostnames[name] }) {
				return false
			}
		}
	}
	return true
}

// inMemory is a volume in memory as the agent of its node reports it.
type inMemory struct {
	unreachable string
	volume      *v1alpha1.ObservedMemoryVolume
}

// readMemory returns the volumes in memory that an agent reports.
func readMemory(s *v1alpha1.PgNodeStorage) []inMemory {
	if s.Spec.Memory == nil || s.Status.Memory == nil {
		return nil
	}
	var out []inMemory
	for i := range s.Status.Memory.Volumes {
		out = append(out, inMemory{unreachable: unreachable(s), volume: &s.Status.Memory.Volumes[i]})
	}
	return out
}
