package zfs

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Health of a pool or vdev, as ZFS names it.
type Health string

// Healths, of pools and of vdevs.
const (
	Online    Health = "ONLINE"
	Degraded  Health = "DEGRADED"
	Faulted   Health = "FAULTED"
	Offline   Health = "OFFLINE"
	Unavail   Health = "UNAVAIL"
	Removed   Health = "REMOVED"
	Suspended Health = "SUSPENDED"
	Available Health = "AVAIL" // a spare
	InUse     Health = "INUSE" // a spare
	SplitOff  Health = "SPLIT"
)

// Pool that is imported. The numbers of a faulted pool are 0.
type Pool struct {
	Name   string
	GUID   uint64
	Health Health
	// Size, Allocated and Free in bytes, before redundancy of raidz is taken off.
	Size, Allocated, Free uint64
	// Fragmentation of the free space and Capacity in use, in percent.
	Fragmentation, Capacity uint64
}

const poolColumns = "name,guid,size,allocated,free,fragmentation,capacity,health"

// Pools that are imported, in the order of ZFS: by name.
func (c *Client) Pools(ctx context.Context) ([]Pool, error) {
	out, err := c.read(ctx, "zpool", "list", "-Hp", "-o", poolColumns)
	if err != nil {
		return nil, err
	}
	return parsePools(out)
}

func parsePools(out string) ([]Pool, error) {
	var pools []Pool
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		f := strings.Split(line, "\t")
		if line == "" || line == "no pools available" {
			continue
		}
		if len(f) != 8 {
			return nil, fmt.Errorf("%w: zpool list: %q", ErrFormat, line)
		}
		p := Pool{Name: f[0], Health: Health(f[7])}
		for i, to := range []*uint64{&p.GUID, &p.Size, &p.Allocated, &p.Free, &p.Fragmentation, &p.Capacity} {
			n, err := number(f[i+1])
			if err != nil {
				return nil, fmt.Errorf("%w: zpool list: %q: %q is not a number", ErrFormat, line, f[i+1])
			}
			*to = n
		}
		pools = append(pools, p)
	}
	return pools, nil
}

// number as -p prints it, some with a percent sign; "-" is nothing, as of a pool that
// is faulted.
func number(s string) (uint64, error) {
	if s == "-" {
		return 0, nil
	}
	return strconv.ParseUint(strings.TrimSuffix(s, "%"), 10, 64)
}

// Property as it was read.
type Property struct {
	// Value as ZFS prints it with -p: sizes are bytes.
	Value string
	// Source: local, default, temporary, received, "inherited from NAME", or "-" where
	// the property cannot be set.
	Source string
}

// Local says whether the property was set on this very object.
func (p Property) Local() bool { return p.Source == "local" || p.Source == "received" }

// Number that the value is; false where it is none.
func (p Property) Number() (uint64, bool) {
	n, err := strconv.ParseUint(strings.TrimRight(p.Value, "%x"), 10, 64)
	return n, err == nil
}

// Pool has all properties of one imported pool, features included.
func (c *Client) Pool(ctx context.Context, name string) (map[string]Property, error) {
	if err := ValidPoolName(name); err != nil {
		return nil, err
	}
	out, err := c.read(ctx, "zpool", "get", "-Hp", "-o", "property,value,source", "all", name)
	if err != nil {
		return nil, err
	}
	return parseProperties(out)
}

func parseProperties(out string) (map[string]Property, error) {
	props := map[string]Property{}
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if line == "" {
			continue
		}
		name, p, err := parseProperty(line)
		if err != nil {
			return nil, fmt.Errorf("zpool get: %w", err)
		}
		props[name] = p
	}
	return props, nil
}

// parseProperty of a line of name, value and source; the value may hold tabs.
func parseProperty(line string) (string, Property, error) {
	name, rest, ok := strings.Cut(line, "\t")
	end := strings.LastIndex(rest, "\t")
	if !ok || name == "" || end < 0 {
		return "", Property{}, fmt.Errorf("%w: %q", ErrFormat, line)
	}
	return name, Property{Value: rest[:end], Source: rest[end+1:]}, nil
}
