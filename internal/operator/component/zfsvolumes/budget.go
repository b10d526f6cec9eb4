package zfsvolumes

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
)

// reservePercent of a node's memory is left to connections, maintenance and all
// else that runs there.
const reservePercent = 10

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
	instances                                    int
	// headers that a full L2ARC of cache bytes has in the ARC.
	headers, cache int64
}

func (b budget) wanted() int64 { return b.arc + b.servers + b.osds + b.buffers + b.reserve }

func (b budget) over() bool { return b.memory > 0 && b.wanted() > b.memory }

// crowded: the ARC has no room for the headers of a full L2ARC.
func (b budget) crowded() bool { return b.headers > b.arc/headerPart }

func (b budget) String() string {
	servers := ""
	if b.servers > 0 {
		servers = fmt.Sprintf(" + ZeroFS servers %s", quantity(b.servers))
	}
	if b.osds > 0 {
		servers += fmt.Sprintf(" + OSDs %s", quantity(b.osds))
	}
	return fmt.Sprintf("%s: ARC %s%s + shared_buffers of %d instances %s + reserve %s = %s of %s", b.node,
		quantity(b.arc), servers, b.instances, quantity(b.buffers), quantity(b.reserve), quantity(b.wanted()), quantity(b.memory))
}

func (b budget) headersText() string {
	return fmt.Sprintf("%s: an L2ARC of %s needs %s of headers, and an ARC of %s holds %s of them", b.node, quantity(b.cache), quantity(b.headers), quantity(b.arc), quantity(b.arc/headerPart))
}

// quantity in whole Mi, as kubectl describe node shows memory.
func quantity(n int64) string {
	return resource.NewQuantity(n>>20<<20, resource.BinarySI).String()
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
	o := outcome.DoneWith(c, v1alpha1.ReasonWithinBudget, fmt.Sprintf("the ARC,%s shared_buffers and a reserve of %d%% fit the memory of each node", s.serversText(), reservePercent))
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
	b := budget{node: node.Name, memory: node.Memory, reserve: node.Memory / 100 * reservePercent, servers: s.ServerMemory, osds: s.OSDMemory[node.Name]}
	for _, answer := range facts.Storages {
		if answer.Spec.NodeName == node.Name {
			b.read(answer.Status, s.Cache)
		}
	}
	for i := range facts.Clusters {
		n := instancesOn(node.Name, &facts.Clusters[i], facts.Instances)
		b.instances += n
		b.buffers += int64(n) * SharedBuffers(&facts.Clusters[i])
	}
	return b, b.arc > 0 && b.memory > 0
}

// instancesOn a node of a database: by the volumes that an agent found there, and by
// where those are whose volumes no agent sees.
func instancesOn(node string, cr *v1alpha1.PgStorageCluster, placed []observed.Placement) int {
	n := 0
	for _, v := range cr.Status.Volumes {
		if v.Node == node && v.Role == "Data" {
			n++
		}
	}
	for _, i := range placed {
		if i.Node == node && i.Cluster == cr.Namespace+"/"+cr.Name {
			n++
		}
	}
	return n
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

// SharedBuffers of each instance of a database, in bytes; 0 while its status has none.
func SharedBuffers(cr *v1alpha1.PgStorageCluster) int64 {
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
