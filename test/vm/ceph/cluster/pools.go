//go:build linux

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/test/vm/ceph/job"
)

// groups of a pool: Ceph's own number (osd_pool_default_pg_num).
const groups = "32"

// pools of every side, as Rook makes them of a CephBlockPool.
func (c *Cluster) pools(ctx context.Context) error {
	if !c.made {
		return nil
	}
	for _, side := range c.job.Sides {
		if err := makePool(ctx, side.Pool, side.Zvols.DeviceClass); err != nil {
			return err
		}
	}
	return nil
}

func makePool(ctx context.Context, p job.Pool, class string) error {
	commands := [][]string{
		{"ceph", "osd", "crush", "rule", "create-replicated", p.Name, "default", p.FailureDomain, class},
		{"ceph", "osd", "pool", "create", p.Name, groups, groups, "replicated", p.Name},
		{"ceph", "osd", "pool", "set", p.Name, "size", fmt.Sprint(p.Copies)},
	}
	for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
		commands = append(commands, []string{"ceph", "osd", "pool", "set", p.Name, name, p.Parameters[name]})
	}
	return all(ctx, append(commands, []string{"ceph", "osd", "pool", "application", "enable", p.Name, "rbd"})...)
}

// status of the cluster, in the words of ceph status --format json.
type status struct {
	Health struct {
		Status string
		Checks map[string]struct{ Summary struct{ Message string } }
	}
	PGMap struct {
		Groups int `json:"num_pgs"`
		States []struct {
			Name  string `json:"state_name"`
			Count int
		} `json:"pgs_by_state"`
	}
}

// clean waits until every placement group has all of its copies. The mgr knows it from
// what the OSDs tell it since its own start.
func (c *Cluster) clean(ctx context.Context) error {
	last := ""
	err := until(ctx, "every placement group is clean", upTime, c.alive(func() (bool, error) {
		text, err := run(ctx, "ceph", "--connect-timeout", "60", "status", "--format", "json")
		if err != nil {
			return false, err
		}
		var s status
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			return false, err
		}
		last = s.String()
		return s.clean(len(c.job.Sides)), nil
	}))
	fmt.Println("         " + last)
	return err
}

// clean, with the groups of so many pools at least.
func (s status) clean(pools int) bool {
	clean := 0
	for _, state := range s.PGMap.States {
		if strings.HasPrefix(state.Name, "active+clean") {
			clean += state.Count
		}
	}
	return clean == s.PGMap.Groups && clean >= pools
}

func (s status) String() string {
	out := s.Health.Status
	for _, name := range slices.Sorted(maps.Keys(s.Health.Checks)) {
		out += fmt.Sprintf(", %s (%s)", name, s.Health.Checks[name].Summary.Message)
	}
	for _, state := range s.PGMap.States {
		out += fmt.Sprintf(", %d %s", state.Count, state.Name)
	}
	return out
}
