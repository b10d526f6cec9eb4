package clusters

import (
	"slices"

	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// instance and the nodes of its volumes.
type instance struct {
	name  string
	nodes []string
	// unreachable: a node of it is not Ready, so that what is known of it may be old.
	unreachable bool
}

func homesOf(claims []observed.Claim) []instance {
	var out []instance
	for _, c := range claims {
		if c.Role != "" {
			continue // of an unknown kind, or a tablespace, which may be on other storage
		}
		node := c.Node
		if node == "" {
			node = c.Home
		}
		i := slices.IndexFunc(out, func(i instance) bool { return i.name == c.Instance })
		if i < 0 {
			out = append(out, instance{name: c.Instance})
			i = len(out) - 1
		}
		if node != "" && !slices.Contains(out[i].nodes, node) {
			out[i].nodes = append(out[i].nodes, node)
		}
		out[i].unreachable = out[i].unreachable || c.Unreachable != ""
	}
	return out
}

// condition of the devices below an instance: lost if any are, whole if all are.
func (i instance) condition(facts observed.Cluster) observed.DevicesCondition {
	whole := len(i.nodes) > 0
	for _, n := range i.nodes {
		switch facts.Devices[n].Condition {
		case observed.DevicesLost:
			return observed.DevicesLost
		case observed.DevicesBetween:
			whole = false
		}
	}
	if whole {
		return observed.DevicesWhole
	}
	return observed.DevicesBetween
}

// worst of the instance's nodes: lost before what waits, and that before the others.
func (i instance) worst(facts observed.Cluster) observed.Devices {
	out := observed.Devices{Condition: i.condition(facts)}
	for _, n := range i.nodes {
		if d := facts.Devices[n]; d.Condition == out.Condition && (out.Reason == "" || d.Stalls) {
			out = d
		}
	}
	return out
}

func (i instance) restarts(facts observed.Cluster) bool {
	return !slices.ContainsFunc(i.nodes, func(n string) bool {
		return facts.Devices[n].Condition == observed.DevicesLost && !facts.Devices[n].Restarts
	})
}
