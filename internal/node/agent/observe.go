package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/decide"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

// observe reads everything that a pass needs, with four commands where the pool is
// imported. Network is what was seen of network devices, or nil.
func (n *Node) observe(ctx context.Context, s *v1alpha1.PgNodeStorage, net *decide.Network) (decide.Seen, error) {
	seen := decide.Seen{Loaded: n.Kernel.Loaded(), Network: net}
	var err error
	if seen.Devices, err = n.Devices.Inventory(ctx); err != nil {
		return seen, fmt.Errorf("list devices: %w", err)
	}
	if !seen.Loaded {
		n.versions = zfs.Versions{}
	} else if err := n.observeZFS(ctx, s, &seen); err != nil {
		return seen, err
	}
	if net == nil {
		return seen, nil
	}
	if err := n.finishNetwork(ctx, s, &seen); err != nil {
		return seen, err
	}
	return seen, n.remember(s, seen)
}

func (n *Node) observeZFS(ctx context.Context, s *v1alpha1.PgNodeStorage, seen *decide.Seen) error {
	if err := n.readVersions(ctx); err != nil {
		return err
	}
	seen.Version = n.versions
	var err error
	if seen.ARC, err = n.Kernel.ARC(); err != nil {
		return fmt.Errorf("read ARC: %w", err)
	}
	if seen.OlderARC, err = n.olderARC(ctx, s); err != nil {
		return err
	}
	seen.Pool, err = n.ZFS.Pool(ctx, s.Spec.Pool.Name)
	switch {
	case errors.Is(err, zfs.ErrNoSuchPool):
		seen.Pool = nil
		return n.observeAbsent(ctx, s, seen)
	case err != nil:
		return fmt.Errorf("read pool: %w", err)
	}
	return n.observePool(ctx, s.Spec.Pool.Name, seen)
}

// olderARC reads whether another PgNodeStorage decides on the limit of the ARC.
func (n *Node) olderARC(ctx context.Context, s *v1alpha1.PgNodeStorage) (*decide.ARCLimit, error) {
	if n.Declared == nil || s.Spec.ARCMax == nil {
		return nil, nil
	}
	all, err := n.Declared(ctx)
	if err != nil {
		return nil, fmt.Errorf("list PgNodeStorages: %w", err)
	}
	return decide.OlderARCLimit(s, all), nil
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

func (n *Node) observePool(ctx context.Context, pool string, seen *decide.Seen) error {
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
func (n *Node) observeAbsent(ctx context.Context, s *v1alpha1.PgNodeStorage, seen *decide.Seen) error {
	if seen.Network != nil {
		n.probe(ctx, seen) // a dead device would look as if it carried no pool
		if !seen.Network.Complete() {
			return nil // it is looked for once its devices are attached
		}
	}
	if err := n.findImportable(ctx, s, seen); err != nil {
		return err
	}
	if !decide.MayCreate(s, *seen) {
		return nil // a device that cannot be read must not keep a pool from being imported
	}
	return n.probeContents(ctx, candidates(s, seen), seen)
}

// candidates are the devices that a new pool could take.
func candidates(s *v1alpha1.PgNodeStorage, seen *decide.Seen) []string {
	if seen.Network == nil {
		return decide.Candidates(s.Spec.Pool.Create, seen.Devices)
	}
	var out []string
	for _, d := range seen.Network.Devices {
		out = append(out, d.Attached.Path)
	}
	return out
}
