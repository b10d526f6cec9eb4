package zfs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Vdev to make: a group of devices.
type Vdev struct {
	// Type is "" for single devices (a stripe), mirror, raidz1, raidz2 or raidz3.
	Type string
	// Devices by their full, clean path.
	Devices []string
}

// PoolSpec is a pool to make.
type PoolSpec struct {
	Name string
	// Vdevs hold the data; at least one.
	Vdevs []Vdev
	// Logs are stripes or mirrors.
	Logs []Vdev
	// Special vdevs hold metadata and small blocks: losing one is losing the pool.
	Special []Vdev
	// Caches are devices of the L2ARC.
	Caches []string
	// Properties of the pool; see CanonicalPool.
	Properties map[string]string
	// FSProperties of its root dataset; see Canonical.
	FSProperties map[string]string
}

// minDevices of each type, with which it survives the loss of a device.
var minDevices = map[string]int{"": 1, "mirror": 2, "raidz1": 2, "raidz2": 3, "raidz3": 4}

// CreatePool makes a pool, never with force: ErrInUse where zpool finds a device in
// use. That a device is blank is for the caller to know, see internal/node/blockdev: zpool
// overwrites what it does not know. Give mountpoint none or legacy: a mount would be seen
// in the agent's mount namespace only.
func (c *Client) CreatePool(ctx context.Context, spec PoolSpec) error {
	args, err := createArgs(spec)
	if err != nil {
		return err
	}
	return c.partition(ctx, args...)
}

// partitionings of the same devices, at most.
const partitionings = 3

// partition runs a command of zpool that partitions whole disks, and repeats it where zpool or
// the kernel then finds no partition. udev has not named the partition yet, or is naming it
// again (OpenZFS issues 1646, 3708 and 9830, where users repeat it manually). A later pass
// would find a partition table on a device that has to be blank. The command has no force: each
// time it refuses what is in use, or has a file system.
func (c *Client) partition(ctx context.Context, args ...string) error {
	var err error
	for range partitionings {
		// The kernel says of a device that it does not find: no such pool or dataset.
		if err = c.change(ctx, "zpool", args...); !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrNoSuchPool) {
			return err
		}
	}
	return err
}

func createArgs(spec PoolSpec) ([]string, error) {
	if err := spec.validate(); err != nil {
		return nil, err
	}
	pool, err := assignments(spec.Properties, CanonicalPool)
	if err != nil {
		return nil, err
	}
	fs, err := assignments(spec.FSProperties, Canonical)
	if err != nil {
		return nil, err
	}
	for name := range spec.FSProperties {
		if err := applies(name, Filesystem); err != nil {
			return nil, err
		}
	}
	args := append([]string{"create"}, flagged("-o", pool)...)
	args = append(args, flagged("-O", fs)...)
	args = append(args, spec.Name)
	args = append(args, vdevArgs("", spec.Vdevs)...)
	args = append(args, vdevArgs("special", spec.Special)...)
	args = append(args, vdevArgs("log", spec.Logs)...)
	if len(spec.Caches) > 0 {
		args = append(append(args, "cache"), spec.Caches...)
	}
	return args, nil
}

// vdevArgs of a class, whose word zpool takes once. Single devices come first: behind a
// group they would be of that group.
func vdevArgs(class string, vdevs []Vdev) []string {
	var single, groups []string
	for _, v := range vdevs {
		if v.Type == "" {
			single = append(single, v.Devices...)
			continue
		}
		groups = append(append(groups, v.Type), v.Devices...)
	}
	args := append(single, groups...)
	if class != "" && len(args) > 0 {
		args = append([]string{class}, args...)
	}
	return args
}

func (p PoolSpec) validate() error {
	if err := ValidPoolName(p.Name); err != nil {
		return err
	}
	if len(p.Vdevs) == 0 {
		return fmt.Errorf("%w: pool %s has no vdev; name at least one device", ErrInvalid, p.Name)
	}
	for i, v := range slices.Concat(p.Vdevs, p.Special, p.Logs) {
		least, known := minDevices[v.Type]
		isLog := i >= len(p.Vdevs)+len(p.Special)
		switch {
		case !known:
			return fmt.Errorf("%w: vdev type %q; use mirror, raidz1, raidz2, raidz3 or none", ErrInvalid, v.Type)
		case isLog && strings.HasPrefix(v.Type, "raidz"):
			return fmt.Errorf("%w: a log cannot be %s; use a mirror", ErrInvalid, v.Type)
		case len(v.Devices) < least:
			return fmt.Errorf("%w: a vdev %q of %d devices; name at least %d", ErrInvalid, v.Type, len(v.Devices), least)
		}
	}
	return p.validateDevices()
}

func (p PoolSpec) validateDevices() error {
	devices := slices.Clone(p.Caches)
	for _, v := range slices.Concat(p.Vdevs, p.Special, p.Logs) {
		devices = append(devices, v.Devices...)
	}
	seen := map[string]bool{}
	for _, d := range devices {
		switch {
		case !path.IsAbs(d) || path.Clean(d) != d || d == "/" || strings.ContainsAny(d, " \t\n"):
			return fmt.Errorf("%w: device %q; name it by its full path", ErrInvalid, d)
		case seen[d]:
			return fmt.Errorf("%w: device %s is named twice", ErrInvalid, d)
		}
		seen[d] = true
	}
	return nil
}

// assignments name=value in sorted order, each value in its canonical form.
func assignments(props map[string]string, canonical func(name, value string) (string, error)) ([]string, error) {
	out := make([]string, 0, len(props))
	for _, name := range slices.Sorted(maps.Keys(props)) {
		v, err := canonical(name, props[name])
		if err != nil {
			return nil, err
		}
		out = append(out, name+"="+settable(name, v))
	}
	return out, nil
}

// settable returns the form of a canonical value that ZFS accepts. A quota prints as 0 where
// there is none, and only "none" sets that (libzfs: "use 'none' to disable quota/refquota").
func settable(name, canonical string) string {
	if canonical == "0" && slices.Contains([]string{"quota", "refquota", "reservation", "refreservation"}, name) {
		return "none"
	}
	return canonical
}

func flagged(flag string, values []string) []string {
	var out []string
	for _, v := range values {
		out = append(out, flag, v)
	}
	return out
}

// SetPool sets properties of an imported pool, in sorted order, one command each as
// zpool takes only one; those ahead of a failure stay set.
func (c *Client) SetPool(ctx context.Context, name string, props map[string]string) error {
	if err := ValidPoolName(name); err != nil {
		return err
	}
	set, err := assignments(props, CanonicalPool)
	if err != nil {
		return err
	}
	if _, ok := props["ashift"]; ok {
		return fmt.Errorf("%w: ashift of pool %s cannot change; it is set when a pool is made", ErrInvalid, name)
	}
	for _, s := range set {
		if err := c.change(ctx, "zpool", "set", s, name); err != nil {
			return err
		}
	}
	return nil
}

// SetDataset sets properties of a dataset by one command; without properties nothing
// is run. Those that ZFS takes only at creation are refused.
func (c *Client) SetDataset(ctx context.Context, name string, props map[string]string) error {
	if err := ValidDatasetName(name); err != nil {
		return err
	}
	set, err := assignments(props, Canonical)
	if err != nil || len(set) == 0 {
		return err
	}
	for p := range props {
		if rule, _ := lookup(p); rule.Effect == AtCreation {
			return fmt.Errorf("%w: %s of %s cannot change; make a new dataset with it", ErrInvalid, p, name)
		}
	}
	return c.change(ctx, "zfs", slices.Concat([]string{"set"}, set, []string{name})...)
}

// CreateDataset makes a filesystem with these properties; its parent must exist. As to
// mountpoint see CreatePool.
func (c *Client) CreateDataset(ctx context.Context, name string, props map[string]string) error {
	if err := ValidDatasetName(name); err != nil {
		return err
	}
	if !strings.Contains(name, "/") {
		return fmt.Errorf("%w: %s is a pool; name a dataset in it", ErrInvalid, name)
	}
	set, err := assignments(props, Canonical)
	if err != nil {
		return err
	}
	for p := range props {
		if err := applies(p, Filesystem); err != nil {
			return err
		}
	}
	return c.change(ctx, "zfs", slices.Concat([]string{"create"}, flagged("-o", set), []string{name})...)
}
