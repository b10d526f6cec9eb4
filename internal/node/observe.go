package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/blockdev"
	"github.com/pgstorage/pgstorage/internal/nodestorage"
	"github.com/pgstorage/pgstorage/internal/zfs"
)

// observe reads everything that a pass needs, with four commands where the pool is
// imported.
func (n *Node) observe(ctx context.Context, s *v1alpha1.PgNodeStorage) (nodestorage.Seen, error) {
	seen := nodestorage.Seen{Loaded: n.Kernel.Loaded()}
	var err error
	if seen.Devices, err = n.Devices.Inventory(ctx); err != nil {
		return seen, fmt.Errorf("list devices: %w", err)
	}
	if !seen.Loaded {
		n.versions = zfs.Versions{}
		return seen, nil
	}
	if err := n.readVersions(ctx); err != nil {
		return seen, err
	}
	seen.Version = n.versions
	if seen.ARC, err = n.Kernel.ARC(); err != nil {
		return seen, fmt.Errorf("read ARC: %w", err)
	}
	seen.Pool, err = n.ZFS.Pool(ctx, s.Spec.Pool.Name)
	switch {
	case errors.Is(err, zfs.ErrNoSuchPool):
		seen.Pool = nil
		return seen, n.observeAbsent(ctx, s, &seen)
	case err != nil:
		return seen, fmt.Errorf("read pool: %w", err)
	}
	return seen, n.observePool(ctx, s.Spec.Pool.Name, &seen)
}

// readVersions once for as long as the module stays loaded.
func (n *Node) readVersions(ctx context.Context) error {
	if n.versions.Userland.Text != "" && n.versions.Kernel.Text != "" {
		return nil
	}
	v, err := n.ZFS.Version(ctx)
	if err != nil {
		return fmt.Errorf("read ZFS version: %w", err)
	}
	n.versions, n.ZFS.Userland = v, v.Userland
	return nil
}

func (n *Node) observePool(ctx context.Context, pool string, seen *nodestorage.Seen) error {
	var err error
	if seen.Status, err = n.ZFS.Status(ctx, pool); err != nil {
		return fmt.Errorf("read pool status: %w", err)
	}
	if !seen.Serves() {
		return nil // reading datasets fails, or waits for the pool
	}
	if seen.Datasets, err = n.ZFS.Datasets(ctx, pool); err != nil {
		return fmt.Errorf("read datasets: %w", err)
	}
	return nil
}

// observeAbsent looks for the pool on the devices and, where a new one may be
// made, at what is on those it could take.
func (n *Node) observeAbsent(ctx context.Context, s *v1alpha1.PgNodeStorage, seen *nodestorage.Seen) error {
	var err error
	if seen.Importable, err = n.ZFS.Importable(ctx); err != nil {
		return fmt.Errorf("look for pools to import: %w", err)
	}
	if !nodestorage.MayCreate(s, *seen) {
		return nil // a device that cannot be read must not keep a pool from being imported
	}
	seen.Signatures = map[string]blockdev.Signatures{}
	for _, path := range nodestorage.Candidates(s.Spec.Pool.Create, seen.Devices) {
		found, err := n.Devices.Blank(ctx, path)
		switch {
		case errors.Is(err, blockdev.ErrNoSuchDevice):
			seen.Missing = append(seen.Missing, path)
		case err != nil:
			return fmt.Errorf("probe device: %w", err)
		default:
			seen.Signatures[path] = found
		}
	}
	return nil
}
