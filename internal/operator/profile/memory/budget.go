package memory

import (
	"fmt"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/nodes"
	"github.com/pgstorage/pgstorage/internal/operator/nodevolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

func joined(texts []string) string { return strings.Join(texts, ", ") }

// Budget of one node's memory, in bytes. The kernel counts neither the ARC nor a tmpfs
// that no running pod touches as memory of pods, so the scheduler does not see them.
type Budget struct {
	Node string
	// ARC and Volumes are promised: the limit of the cache, and the sizes of the volumes
	// in memory that exist.
	ARC, Volumes int64
	// Memory that the node gives to pods; 0 where it is not known.
	Memory int64
}

// Exceeds says by what sum a further volume is more than the node or its profile gives;
// empty where it fits. All volumes of a profile on the node, with this one, are at most
// most. The comparisons subtract, because a sum can overflow.
func (b Budget) Exceeds(size, ofProfile, most int64) string {
	if size > most-ofProfile {
		return fmt.Sprintf("volumes of %s and one of %s on node %s are more than spec.memory.maxPerNode of the profile, %s",
			nodes.Quantity(ofProfile), nodes.Quantity(size), b.Node, nodes.Quantity(most))
	}
	reserve := nodes.Reserve(b.Memory)
	if others := b.ARC + b.Volumes + reserve; b.Memory > 0 && size > b.Memory-others {
		return fmt.Sprintf("on node %s ARC %s + volumes in memory %s + this one %s + reserve %s = %s, of %s allocatable",
			b.Node, nodes.Quantity(b.ARC), nodes.Quantity(b.Volumes), nodes.Quantity(size), nodes.Quantity(reserve), nodes.Quantity(others+size), nodes.Quantity(b.Memory))
	}
	return ""
}

// budgetOutcome is the condition MemoryBudget: whether the volumes that the profile may
// have fit each node beside the ARC and the shared_buffers of its databases.
func budgetOutcome(p *v1alpha1.PgStorageProfile, facts observed.Profile) *outcome.Outcome {
	const c = v1alpha1.ConditionMemoryBudget
	var over, fit []string
	for _, node := range facts.Nodes {
		if node.Memory == 0 || p.Spec.Memory == nil {
			continue
		}
		text, fits := promised(p.Spec.Memory.MaxPerNode.Value(), node, facts)
		if fits {
			fit = append(fit, text)
		} else {
			over = append(over, text)
		}
	}
	if len(over)+len(fit) == 0 {
		return nil
	}
	o := outcome.DoneWith(c, v1alpha1.ReasonWithinBudget, strings.Join(fit, "; "))
	if len(over) > 0 {
		o = outcome.InvalidBecause(c, v1alpha1.ReasonOverBudget, "more memory is promised than there is: "+strings.Join(over, "; ")+". Lower spec.memory.maxPerNode, or the ARC of the node")
	}
	o.Informative = true
	return &o
}

// promised is the sum of what a node's memory is promised to.
func promised(most int64, node observed.Node, facts observed.Profile) (text string, fits bool) {
	instances, buffers := nodes.Buffers(node.Name, facts)
	reserve := nodes.Reserve(node.Memory)
	// Volumes of other profiles count as they are; those of this one, as they may become.
	other := max(0, node.InMemory-ofProfile(node.Name, facts))
	others := node.ARC + other + buffers + reserve
	text = fmt.Sprintf("%s: ARC %s + volumes up to %s", node.Name, nodes.Quantity(node.ARC), nodes.Quantity(most))
	if other > 0 {
		text += fmt.Sprintf(" + volumes of other profiles %s", nodes.Quantity(other))
	}
	text += fmt.Sprintf(" + shared_buffers of %d instances %s + reserve %s = %s of %s", instances, nodes.Quantity(buffers), nodes.Quantity(reserve), nodes.Quantity(others+most), nodes.Quantity(node.Memory))
	return text, most <= node.Memory-others
}

// ofProfile is the sum of the profile's own volumes on a node.
func ofProfile(node string, facts observed.Profile) int64 {
	var sum int64
	for _, s := range facts.Storages {
		if s.Spec.NodeName == node {
			sum += nodevolumes.InMemory(s)
		}
	}
	return sum
}
