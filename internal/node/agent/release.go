package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// ErrNotReleased is returned while a pool on network devices cannot be released.
var ErrNotReleased = errors.New("the pool on the network devices cannot be released while it has volumes, or while one of its devices is not attached")

// Release a PgNodeStorage that is being deleted. A pool on disks stays imported. A pool on
// network devices is exported, and then its devices are detached. Until that is possible
// the error is ErrNotReleased, and its servers must keep running. Volumes in memory are
// unmounted. The error is tmpfs.ErrInUse until nothing uses them. A dry run releases nothing,
// so it returns these errors while a device is attached or a volume is mounted.
func (n *Node) Release(ctx context.Context, s *v1alpha1.PgNodeStorage) error {
	if s.Spec.Memory != nil {
		if err := n.releaseMemory(ctx, s); err != nil {
			return err
		}
	}
	if s.Spec.NetworkDevices != nil {
		if err := n.releaseNetwork(ctx, s); err != nil {
			return err
		}
	}
	n.forget(s.Name)
	return nil
}

func (n *Node) releaseNetwork(ctx context.Context, s *v1alpha1.PgNodeStorage) error {
	net, err := n.observeNetwork(ctx, s)
	if err != nil {
		return err
	}
	if len(net.Attached()) > 0 {
		seen, err := n.observe(ctx, decide.WithKnownPool(s, net.Record.PoolGUID), net)
		if err != nil {
			return err
		}
		if !decide.MayRelease(s, seen) {
			return ErrNotReleased
		}
		if err := n.releasePool(ctx, s, seen); err != nil {
			return err
		}
	}
	if n.DryRun != nil {
		return nil
	}
	return n.records(s).remove()
}

// releasePool exports the pool if it is imported, and detaches its devices. A dry run only
// reports both, and returns ErrNotReleased.
func (n *Node) releasePool(ctx context.Context, s *v1alpha1.PgNodeStorage, seen decide.Seen) error {
	var due []decide.NetworkAction
	if seen.Pool != nil {
		due = append(due, decide.ReleasePool{})
	}
	due = append(due, decide.DetachDevices{Devices: seen.Network.Attached()})
	for _, action := range due {
		if n.DryRun != nil {
			n.DryRun([]string{"network devices:", action.String()})
			continue
		}
		if err := action.Execute(ctx, n.networkExecutor(s, seen)); err != nil {
			return err
		}
	}
	if n.DryRun != nil {
		return fmt.Errorf(msgDryRunReleases, ErrNotReleased)
	}
	return nil
}
