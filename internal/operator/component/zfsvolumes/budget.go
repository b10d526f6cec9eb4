package zfsvolumes

import (
	"fmt"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/nodes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Cache is a second level cache (L2ARC) on each node.
type Cache struct {
	// Device as the profile names it.
	Device string
	// Recordsize in bytes of what is cached.
	Recordsize int64
}

const (
	// headerBytes that the ARC keeps, about, for each record of the L2ARC: 96 to 128
	// by release (illumos issue 5408).
	headerBytes = 100
	// headerPart of the ARC, at most, that headers may take: 1/3
	// (l2arc_meta_percent of zfs(4), 33).
	headerPart = 3
)

// budget of one node's memory, in bytes.
type budget struct {
	node                                         string
	arc, servers, osds, buffers, reserve, memory int64
	// inMemory are the volumes of profiles of type Memory.
	inMemory  int64
	instances int
	// headers that a full L2ARC of cache bytes has in the ARC.
	headers, cache int64
}

func (b budget) wanted() int64 {
	return b.arc + b.servers + b.osds + b.inMemory + b.buffers + b.reserve
}

func (b budget) over() bool { return b.memory > 0 && b.wanted() > b.memory }

// crowded: the ARC has no room for the headers of a full L2ARC.
func (b budget) crowded() bool { return b.headers > b.arc/headerPart }

func (b budget) String() string {
	servers := ""
	if b.servers > 0 {
		servers = fmt.Sprintf(" + ZeroFS servers %s", nodes.Quantity(b.servers))
	}
	if b.osds > 0 {
		servers += fmt.Sprintf(" + OSDs %s", nodes.Quantity(b.osds))
	}
	if b.inMemory > 0 {
		servers += fmt.Sprintf(" + volumes in memory %s", nodes.Quantity(b.inMemory))
	}
	return fmt.Sprintf("%s: ARC %s%s + shared_buffers of %d instances %s + reserve %s = %s of %s", b.node,
		nodes.Quantity(b.arc), servers, b.instances, nodes.Quantity(b.buffers), nodes.Quantity(b.reserve), nodes.Quantity(b.wanted()), nodes.Quantity(b.memory))
}

func (b budget) headersText() string {
	return fmt.Sprintf("%s: an L2ARC of %s needs %s of headers, and an ARC of %s holds %s of them", b.node, nodes.Quantity(b.cache), nodes.Quantity(b.headers), nodes.Quantity(b.arc), nodes.Quantity(b.arc/headerPart))
}

// Budget is the condition MemoryBudget. The ARC does not count as available memory
// (OpenZFS issue 10255), so pods and the ARC compete where both were promised it.
func (s Storage) Budget(facts observed.Profile) *outcome.Outcome {
	var over, crowded []string
	read := 0
	for _, node := range facts.Nodes {
		b, ok := s.budgetOf(node, facts)
		if !ok {
			continue
		}
		read++
		if b.over() {
			over = append(over, b.String())
		}
		if b.crowded() {
			crowded = append(crowded, b.headersText())
		}
	}
	if read == 0 {
		return nil
	}
	const c = v1alpha1.ConditionMemoryBudget
	o := outcome.DoneWith(c, v1alpha1.ReasonWithinBudget, fmt.Sprintf("the ARC,%s shared_buffers and a reserve of %d%% fit the memory of each node", s.serversText(), nodes.ReservePercent))
	switch {
	case len(over) > 0:
		o = outcome.InvalidBecause(c, v1alpha1.ReasonOverBudget, "more memory is promised than there is, and the kernel will kill a database for it: "+strings.Join(append(over, crowded...), "; ")+". Set or lower "+s.Field+".arcMax, or move instances")
	case len(crowded) > 0:
		o = outcome.InvalidBecause(c, v1alpha1.ReasonOverBudget, "the L2ARC is larger than the ARC can keep record of, so part of it stays unused: "+strings.Join(crowded, "; ")+". Raise "+s.Field+".arcMax, use a smaller partition, or larger records")
	}
	o.Informative = true
	return &o
}

func (s Storage) serversText() string {
	switch {
	case s.ServerMemory > 0:
		return " the ZeroFS servers,"
	case len(s.OSDMemory) > 0:
		return " the OSDs,"
	}
	return ""
}

func (s Storage) budgetOf(node observed.Node, facts observed.Profile) (budget, bool) {
	b := budget{node: node.Name, memory: node.Memory, reserve: nodes.Reserve(node.Memory), servers: s.ServerMemory, osds: s.OSDMemory[node.Name], inMemory: node.InMemory}
	for _, answer := range facts.Storages {
		if answer.Spec.NodeName == node.Name {
			b.read(answer.Status, s.Cache)
		}
	}
	b.instances, b.buffers = nodes.Buffers(node.Name, facts)
	return b, b.arc > 0 && b.memory > 0
}

// read what the agent reports of the ARC, and of the device of the L2ARC.
func (b *budget) read(status v1alpha1.PgNodeStorageStatus, cache *Cache) {
	if status.ARC != nil && status.ARC.Max != nil {
		b.arc = status.ARC.Max.Value()
	}
	if cache != nil && cache.Recordsize > 0 {
		b.cache = cache.size(status.Devices)
		b.headers = b.cache / cache.Recordsize * headerBytes
	}
}

// size of the cache's device on a node; 0 where the agent does not list it.
func (c *Cache) size(devices []v1alpha1.ObservedDevice) int64 {
	for _, d := range devices {
		if d.Path == c.Device && d.Size != nil {
			return d.Size.Value()
		}
	}
	return 0
}
