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

// pools creates the pools of every side, as Rook does for a CephBlockPool.
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

// placed groups, in the words of ceph pg stat --format json.
type placed struct {
	Ready   bool `json:"pg_ready"`
	Summary struct {
		Groups int `json:"num_pgs"`
		States []struct {
			Name  string
			Count int `json:"num"`
		} `json:"num_pg_by_state"`
	} `json:"pg_summary"`
}

// clean waits until every placement group has all of its copies, and prints the health of the
// cluster. It asks the mgr, which knows only what OSDs have reported since its own start. For a
// while after a boot, the mon's answer (ceph status) is older than the boot.
func (c *Cluster) clean(ctx context.Context) error {
	err := until(ctx, "every placement group is clean", upTime, c.alive(func() (bool, error) {
		text, err := run(ctx, "ceph", "--connect-timeout", "60", "pg", "stat", "--format", "json")
		if err != nil {
			return false, err
		}
		var p placed
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			return false, fmt.Errorf("%w: %s", err, text)
		}
		if !p.clean(len(c.job.Sides)) {
			return false, fmt.Errorf("ceph pg stat: %s", text)
		}
		return true, nil
	}))
	if err != nil {
		return err
	}
	_, err = run(ctx, "ceph", "health", "detail")
	return err
}

// clean reports whether at least so many pools have only clean groups.
func (p placed) clean(pools int) bool {
	clean := 0
	for _, state := range p.Summary.States {
		if strings.HasPrefix(state.Name, "active+clean") {
			clean += state.Count
		}
	}
	return p.Ready && clean == p.Summary.Groups && clean >= pools
}
