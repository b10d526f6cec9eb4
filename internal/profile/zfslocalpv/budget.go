package zfslocalpv

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/postgres"
	"github.com/pgstorage/pgstorage/internal/state"
)

// reservePercent of a node's memory is left to connections, maintenance and all
// else that runs there.
const reservePercent = 10

// budget of one node's memory, in bytes.
type budget struct {
	node                          string
	arc, buffers, reserve, memory int64
	instances                     int
}

func (b budget) over() bool { return b.memory > 0 && b.arc+b.buffers+b.reserve > b.memory }

func (b budget) String() string {
	return fmt.Sprintf("%s: ARC %s + shared_buffers of %d instances %s + reserve %s = %s of %s", b.node,
		quantity(b.arc), b.instances, quantity(b.buffers), quantity(b.reserve), quantity(b.arc+b.buffers+b.reserve), quantity(b.memory))
}

// quantity in whole Mi, as kubectl describe node shows memory.
func quantity(n int64) string {
	return resource.NewQuantity(n>>20<<20, resource.BinarySI).String()
}

// budgetOutcome is the condition MemoryBudget: the ARC does not count as available
// memory (OpenZFS issue 10255), so pods and ARC fight where both were promised it.
func budgetOutcome(facts state.ProfileFacts) *state.Outcome {
	var over []string
	read := 0
	for _, node := range facts.Nodes {
		b, ok := budgetOf(node, facts)
		if !ok {
			continue
		}
		read++
		if b.over() {
			over = append(over, b.String())
		}
	}
	if read == 0 {
		return nil
	}
	const c = v1alpha1.ConditionMemoryBudget
	o := state.DoneWith(c, v1alpha1.ReasonWithinBudget, fmt.Sprintf("the ARC, shared_buffers and a reserve of %d%% fit the memory of each node", reservePercent))
	if len(over) > 0 {
		o = state.InvalidBecause(c, v1alpha1.ReasonOverBudget, "more memory is promised than there is, and the kernel will kill a database for it: "+strings.Join(over, "; ")+". Set or lower spec.zfsLocalPV.arcMax, or move instances")
	}
	o.Informative = true
	return &o
}

func budgetOf(node state.Node, facts state.ProfileFacts) (budget, bool) {
	b := budget{node: node.Name, memory: node.Memory, reserve: node.Memory / 100 * reservePercent}
	for _, s := range facts.Storages {
		if s.Spec.NodeName == node.Name && s.Status.ARC != nil && s.Status.ARC.Max != nil {
			b.arc = s.Status.ARC.Max.Value()
		}
	}
	for i := range facts.Clusters {
		cr := &facts.Clusters[i]
		for _, v := range cr.Status.Volumes {
			if v.Node == node.Name && v.Role == "Data" {
				b.instances++
				b.buffers += sharedBuffers(cr)
			}
		}
	}
	return b, b.arc > 0 && b.memory > 0
}

// sharedBuffers of each instance, in bytes.
func sharedBuffers(cr *v1alpha1.PgStorageCluster) int64 {
	major, _, _ := strings.Cut(cr.Spec.Postgres.Version, ".")
	version, err := strconv.Atoi(major)
	if err != nil {
		return 0
	}
	for _, p := range cr.Status.Parameters {
		if p.Name == "shared_buffers" {
			blocks, _ := postgres.BaseValue(version, p.Name, p.Value)
			return int64(blocks) * pageSize
		}
	}
	return 0
}
