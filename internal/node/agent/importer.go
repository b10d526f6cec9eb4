package agent

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/decide"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

const (
	// searchTimeout bounds a search for pools on network devices. A server may stop during the
	// search, and only the pass that searches can then reconnect its devices.
	searchTimeout = time.Minute
	// noDevice carries no pool. Without anything to search, zpool would search all devices.
	noDevice = "/dev/null"
)

// findImportable adds the pools that can be imported to seen.
func (n *Node) findImportable(ctx context.Context, s *v1alpha1.PgNodeStorage, seen *decide.Seen) error {
	if seen.Network != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, searchTimeout)
		defer cancel()
	}
	importer, err := n.importer(s, *seen)
	if err == nil {
		seen.Importable, err = importer.Importable(ctx)
	}
	if err != nil {
		return fmt.Errorf("look for pools to import: %w", err)
	}
	return nil
}

// importer returns a client that looks for the pool only where it can be.
func (n *Node) importer(s *v1alpha1.PgNodeStorage, seen decide.Seen) (*zfs.Client, error) {
	c := *n.ZFS
	if s.Spec.NetworkDevices != nil {
		c.SearchDirs, c.CacheFile = networkDirs(s), "none"
		return &c, nil
	}
	var named []string
	for _, d := range decide.DevicesOf(s.Spec.Pool.Create) {
		named = append(named, d.Path)
	}
	var err error
	if c.SearchDirs, err = n.Devices.Searchable(seen.Devices, named...); err != nil {
		return nil, err
	}
	if len(c.SearchDirs) == 0 {
		c.SearchDirs = []string{noDevice}
	}
	return &c, nil
}

// networkDirs have the devices of a pool on network devices, and the disks with its logs.
func networkDirs(s *v1alpha1.PgNodeStorage) []string {
	out := []string{decide.LinkDir(s.Spec.Profile)}
	for _, log := range s.Spec.NetworkDevices.Logs {
		if dir := filepath.Dir(log.Path); !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}
