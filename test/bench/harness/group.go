//go:build linux

package harness

import (
	"slices"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/test/bench/measure"
)

// Sampled is a measured run of any benchmark in a virtual machine.
type Sampled interface{ Common() measure.Sample }

// Group is what configurations are compared within: never across it.
type Group struct {
	Durable bool
	Clients int
}

// Commit names the kind of commit in tables.
func (g Group) Commit() string {
	if g.Durable {
		return "durable"
	}
	return "relaxed"
}

// Tier of the commits: a durable one waits for the local disk.
func (g Group) Tier() v1alpha1.DurabilityTier {
	if g.Durable {
		return v1alpha1.DurabilityLocal
	}
	return v1alpha1.DurabilityAsync
}

// Groups of runs: durable before relaxed, then by the number of clients.
func Groups[R Sampled](runs []R) (groups []Group) {
	var clients []int
	for _, r := range runs {
		clients = append(clients, r.Common().Clients)
	}
	slices.Sort(clients)
	clients = slices.Compact(clients)
	for _, durable := range []bool{true, false} {
		for _, n := range clients {
			groups = append(groups, Group{durable, n})
		}
	}
	return groups
}

// Select the runs of one configuration in one group.
func Select[R Sampled](runs []R, g Group, configuration string) (selected []R) {
	for _, r := range runs {
		if s := r.Common(); s.Configuration == configuration && s.Durable == g.Durable && s.Clients == g.Clients {
			selected = append(selected, r)
		}
	}
	return selected
}

// ByRound has the TPS of each round.
func ByRound[R Sampled](runs []R) map[int]float64 {
	rounds := map[int]float64{}
	for _, r := range runs {
		rounds[r.Common().Round] = r.Common().TPS
	}
	return rounds
}
