package profile

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// MaxPools that a profile's status records, as the schema bounds it.
const MaxPools = 2048

// wholeGUID is what a GUID looks like. That of a status is the word of an agent.
var wholeGUID = regexp.MustCompile(`^[1-9][0-9]{0,19}$`)

// Pools that nodes have had under a profile, by node: what its status records, and what
// agents report of their own nodes. An entry stays when its Node and PgNodeStorage are
// deleted, and changes only once its pool is abandoned. Dropped are nodes that the record
// has no room for.
func Pools(p *v1alpha1.PgStorageProfile, abandoned []v1alpha1.PoolGUID, storages []*v1alpha1.PgNodeStorage) (pools []v1alpha1.ProfilePool, dropped []string) {
	guids, current := map[string]v1alpha1.PoolGUID{}, map[string]bool{}
	for _, known := range p.Status.Pools {
		guids[known.Node] = known.GUID
	}
	for _, s := range storages {
		current[s.Spec.NodeName] = true
		guid := reported(s)
		known, found := guids[s.Spec.NodeName]
		if guid != "" && !slices.Contains(abandoned, guid) && (!found || slices.Contains(abandoned, known)) {
			guids[s.Spec.NodeName] = guid
		}
	}
	for node, guid := range guids {
		pools = append(pools, v1alpha1.ProfilePool{Node: node, GUID: guid})
	}
	// Nodes that the profile has now come first where there is not room for all.
	slices.SortFunc(pools, func(a, b v1alpha1.ProfilePool) int {
		if current[a.Node] != current[b.Node] {
			return map[bool]int{true: -1, false: 1}[current[a.Node]]
		}
		return strings.Compare(a.Node, b.Node)
	})
	for _, over := range pools[min(len(pools), MaxPools):] {
		dropped = append(dropped, over.Node)
	}
	pools = pools[:min(len(pools), MaxPools)]
	slices.SortFunc(pools, func(a, b v1alpha1.ProfilePool) int { return strings.Compare(a.Node, b.Node) })
	return pools, dropped
}

// PoolGUID is the pool that the spec must name to the agent of a node, or empty where
// the agent's own status has it. So the spec of a PgNodeStorage changes only after the
// object or its status was deleted.
func PoolGUID(p *v1alpha1.PgStorageProfile, abandoned []v1alpha1.PoolGUID, storages []*v1alpha1.PgNodeStorage, node string) v1alpha1.PoolGUID {
	for _, s := range storages {
		guid := reported(s)
		if s.Spec.NodeName == node && s.Spec.Pool.GUID == "" && guid != "" && !slices.Contains(abandoned, guid) {
			return ""
		}
	}
	pools, _ := Pools(p, abandoned, storages)
	i := slices.IndexFunc(pools, func(known v1alpha1.ProfilePool) bool { return known.Node == node })
	if i < 0 || slices.Contains(abandoned, pools[i].GUID) {
		return ""
	}
	return pools[i].GUID
}

func reported(s *v1alpha1.PgNodeStorage) v1alpha1.PoolGUID {
	if s.Status.Pool == nil || !wholeGUID.MatchString(s.Status.Pool.GUID) {
		return ""
	}
	return v1alpha1.PoolGUID(s.Status.Pool.GUID)
}
