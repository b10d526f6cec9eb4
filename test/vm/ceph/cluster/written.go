//go:build linux

package cluster

import (
	"context"
	"strings"
)

// Devices of a side's zvols.
func (c *Cluster) Devices(side string) []string {
	var out []string
	for _, o := range c.osds[side] {
		out = append(out, o.device)
	}
	return out
}

// Asked is how many bytes the OSDs of a side had to write since they started. Clients request
// them, and OSDs request further copies of each other.
func (c *Cluster) Asked(side string) (int64, error) {
	var sum int64
	for _, o := range c.osds[side] {
		var counters struct {
			OSD struct {
				Writes  int64 `json:"op_w_in_bytes"`
				Changes int64 `json:"op_rw_in_bytes"`
				Copies  int64 `json:"subop_w_in_bytes"`
			}
		}
		if err := ask("osd."+o.id(), map[string]string{"prefix": "perf dump"}, &counters); err != nil {
			return 0, err
		}
		sum += counters.OSD.Writes + counters.OSD.Changes + counters.OSD.Copies
	}
	return sum, nil
}

// Version of Ceph.
func Version(ctx context.Context) (string, error) {
	out, err := run(ctx, "ceph-osd", "--version")
	return strings.TrimSpace(out), err
}

// Settings lists what figures depend on, a line each: the zvols' properties, the pools, and the
// options of OSDs that differ from Ceph's defaults.
func (c *Cluster) Settings(ctx context.Context) ([]string, error) {
	var names []string
	for _, side := range c.job.Sides {
		for _, o := range c.osds[side.Name] {
			names = append(names, nameOf(side.Zvols, "osd-"+o.id()))
		}
	}
	var out []string
	for _, command := range [][]string{
		append([]string{"zfs", "get", "-H", "-o", "name,property,value,source", "volblocksize,compression,compressratio,logbias,primarycache,sync,refreservation"}, names...),
		{"ceph", "osd", "pool", "ls", "detail"},
		{"ceph", "config", "dump"},
	} {
		text, err := run(ctx, command[0], command[1:]...)
		if err != nil {
			return out, err
		}
		out = append(out, strings.Split(strings.TrimSpace(text), "\n")...)
	}
	return out, nil
}
