//go:build linux

package cluster

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
	"github.com/pgstorage/pgstorage/test/vm/ceph/job"
)

// zvols creates the zvols of every side, and reads them back.
func (c *Cluster) zvols(ctx context.Context) error {
	number := 0
	for _, side := range c.job.Sides {
		for range side.Zvols.Count {
			o := osd{number: number}
			var err error
			if o.device, err = zvol(ctx, side.Zvols, "osd-"+o.id(), side.Zvols.Bytes); err != nil {
				return err
			}
			if err := c.readBack(ctx, side.Zvols, "osd-"+o.id()); err != nil {
				return err
			}
			c.osds[side.Name] = append(c.osds[side.Name], o)
			number++
		}
	}
	return nil
}

func nameOf(z job.Zvols, claim string) string { return z.Parent + "/pvc-" + claim }

// zvol creates a missing zvol of a claim as zfs-localpv does, and returns its device.
func zvol(ctx context.Context, z job.Zvols, claim string, bytes int64) (string, error) {
	name := nameOf(z, claim)
	device := "/dev/zvol/" + name
	client := zfs.Client{Runner: &host.Exec{Timeout: commandTime}}
	if _, err := client.Dataset(ctx, name); err != nil {
		args := []string{"create", "-V", strconv.FormatInt(bytes, 10)}
		if z.Volblocksize > 0 {
			args = append(args, "-b", strconv.FormatInt(z.Volblocksize, 10))
		}
		if !z.Thick {
			args = append(args, "-s")
		}
		if _, err := run(ctx, "zfs", append(args, name)...); err != nil {
			return "", err
		}
	}
	// udev names the device some time after the pool was imported.
	return device, until(ctx, device, commandTime, func() (bool, error) {
		_, err := os.Stat(device)
		return err == nil, err
	})
}

// readBack compares a zvol with its class and its parent.
func (c *Cluster) readBack(ctx context.Context, z job.Zvols, claim string) error {
	client := zfs.Client{Runner: &host.Exec{Timeout: commandTime}}
	seen, err := client.Dataset(ctx, nameOf(z, claim))
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(seen.Properties)) {
		fmt.Printf("         %s %s=%s (%s)\n", seen.Name, name, seen.Properties[name].Value, seen.Properties[name].Source)
	}
	size, reserved, block := seen.Bytes("volsize"), seen.Bytes("refreservation"), seen.Bytes("volblocksize")
	switch {
	case seen.Kind != zfs.Volume:
		return fmt.Errorf("%s is a %s", seen.Name, seen.Kind)
	case size != uint64(z.Bytes):
		return fmt.Errorf("%s has volsize %d, and not %d", seen.Name, size, z.Bytes)
	case z.Volblocksize > 0 && block != uint64(z.Volblocksize):
		return fmt.Errorf("%s has volblocksize %d, and not %d", seen.Name, block, z.Volblocksize)
	case z.Thick && reserved < size:
		return fmt.Errorf("%s has refreservation %d below its volsize %d: it is thin", seen.Name, reserved, size)
	}
	return inherits(seen, c.parent(z.Parent))
}

// parent as it was declared to the agent; nil where a side has one of its own.
func (c *Cluster) parent(name string) []v1alpha1.ZFSProperty {
	for _, d := range c.job.Storage.Spec.Datasets {
		if d.Name == name {
			return d.Properties
		}
	}
	return nil
}

// inherits lists the properties in which a zvol differs from its parent.
func inherits(seen zfs.Dataset, declared []v1alpha1.ZFSProperty) error {
	for _, rule := range zfs.Properties() {
		if !rule.Inheritable || !rule.Volumes {
			continue
		}
		for _, want := range declared {
			if got := seen.Properties[rule.Name]; want.Name == rule.Name && !zfs.Same(rule.Name, want.Value, got.Value) {
				return fmt.Errorf("%s has %s=%s (%s), and its parent is declared with %s", seen.Name, rule.Name, got.Value, got.Source, want.Value)
			}
		}
	}
	return nil
}

// Relax has ZFS acknowledge writes that are only in memory, for everything that uses a side's
// zvols. Earlier writes are on the disks then.
func (c *Cluster) Relax(ctx context.Context, side job.Side) error {
	pool := c.job.Storage.Spec.Pool.Name
	return all(
		ctx,
		[]string{"zpool", "sync", pool},
		[]string{"zfs", "set", "sync=disabled", side.Zvols.Parent},
		[]string{"zfs", "get", "-r", "-o", "name,property,value,source", "sync", side.Zvols.Parent},
	)
}
