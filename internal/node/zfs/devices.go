package zfs

import (
	"context"
	"fmt"
	"slices"
)

// ExportPool releases an imported pool once everything written to it is on its devices. It
// never uses force: ErrInUse where a dataset of it is in use. Do not call it for a pool whose
// devices are lost: it would wait for them indefinitely.
func (c *Client) ExportPool(ctx context.Context, name string) error {
	if err := ValidPoolName(name); err != nil {
		return err
	}
	return c.change(ctx, "zpool", "export", name)
}

// AddCaches to an imported pool. As to what they hold, see CreatePool.
func (c *Client) AddCaches(ctx context.Context, pool string, devices ...string) error {
	return c.add(ctx, PoolSpec{Name: pool, Caches: devices})
}

// AddLog to an imported pool: one device, or a mirror of several.
func (c *Client) AddLog(ctx context.Context, pool string, devices ...string) error {
	log := Vdev{Devices: devices}
	if len(devices) > 1 {
		log.Type = "mirror"
	}
	return c.add(ctx, PoolSpec{Name: pool, Logs: []Vdev{log}})
}

func (c *Client) add(ctx context.Context, spec PoolSpec) error {
	if err := ValidPoolName(spec.Name); err != nil {
		return err
	}
	if err := spec.validateDevices(); err != nil {
		return err
	}
	args := append([]string{"add", spec.Name}, vdevArgs("log", spec.Logs)...)
	if len(spec.Caches) > 0 {
		args = append(append(args, "cache"), spec.Caches...)
	}
	return c.partition(ctx, args...)
}

// RemoveLocal takes a cache or a log out of a pool, by its name in Status. Anything
// else is refused, by what the pool says right before.
func (c *Client) RemoveLocal(ctx context.Context, pool, name string) error {
	s, err := c.Status(ctx, pool)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(s.Vdevs, func(v VdevStatus) bool { return v.Name == name })
	switch {
	case i < 0:
		return fmt.Errorf("%w: pool %s has no vdev %s", ErrInvalid, pool, name)
	case s.Vdevs[i].Class != Cache && s.Vdevs[i].Class != Logs:
		return fmt.Errorf("%w: vdev %s of pool %s holds data and is not removed", ErrInvalid, name, pool)
	}
	return c.change(ctx, "zpool", "remove", pool, name)
}

// Expand a device of an imported pool to its size.
func (c *Client) Expand(ctx context.Context, pool, device string) error {
	return c.onDevice(ctx, pool, device, "online", "-e")
}

// Return a device to its mirror, which then copies what it missed. A pool that is
// suspended is refused: this would resume it. Both commands wait for the end of a
// transaction group, which may take longer than they have, and work before. So again says
// that this was begun before: what ZFS then shows as done is not done again.
func (c *Client) Return(ctx context.Context, pool, device string, again bool) error {
	s, err := c.Status(ctx, pool)
	if err != nil {
		return err
	}
	if s.Suspended {
		return fmt.Errorf("%w: pool %s is suspended; no device is returned to it", ErrInvalid, pool)
	}
	disk, known := s.disk(device)
	if !again || !known || disk.State != Online {
		if err := c.onDevice(ctx, pool, device, "online"); err != nil {
			return err
		}
	} else if disk.Read+disk.Write+disk.Checksum == 0 {
		return nil
	}
	return c.onDevice(ctx, pool, device, "clear")
}

// disk of a pool by its path.
func (s Status) disk(path string) (VdevStatus, bool) {
	for _, v := range s.Vdevs {
		for _, disk := range v.Disks() {
			if disk.Name == path {
				return disk, true
			}
		}
	}
	return VdevStatus{}, false
}

// Scrub reads a pool and repairs what it can.
func (c *Client) Scrub(ctx context.Context, pool string) error {
	if err := ValidPoolName(pool); err != nil {
		return err
	}
	return c.change(ctx, "zpool", "scrub", pool)
}

func (c *Client) onDevice(ctx context.Context, pool, device, command string, options ...string) error {
	if err := (PoolSpec{Name: pool, Caches: []string{device}}).validateDevices(); err != nil {
		return err
	}
	if err := ValidPoolName(pool); err != nil {
		return err
	}
	return c.change(ctx, "zpool", slices.Concat([]string{command}, options, []string{pool, device})...)
}
