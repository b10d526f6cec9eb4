package node

import (
	"context"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/nodestorage"
)

// LetGo of a PgNodeStorage that is deleted, in order, where no volume is on its pool:
// the pool is released, then its devices. A pool with volumes, one that is lost, and one
// on disks stay as they are.
func (n *Node) LetGo(ctx context.Context, s *v1alpha1.PgNodeStorage) error {
	if s.Spec.NetworkDevices != nil && n.DryRun == nil {
		if err := n.letGoOfNetwork(ctx, s); err != nil {
			return err
		}
	}
	n.forget(s.Name)
	return nil
}

func (n *Node) letGoOfNetwork(ctx context.Context, s *v1alpha1.PgNodeStorage) error {
	net, err := n.observeNetwork(ctx, s)
	if err != nil {
		return err
	}
	if len(net.Attached()) > 0 {
		seen, err := n.observe(ctx, withKnownPool(s, net.Record), net)
		if err != nil {
			return err
		}
		if nodestorage.MayRelease(s, seen) {
			if err := n.release(ctx, s, seen); err != nil {
				return err
			}
		}
	}
	return n.records(s).remove()
}

func (n *Node) release(ctx context.Context, s *v1alpha1.PgNodeStorage, seen nodestorage.Seen) error {
	if seen.Pool != nil {
		if err := n.ZFS.ExportPool(ctx, s.Spec.Pool.Name); err != nil {
			return err
		}
	}
	a := networkAct{Node: n, s: s, net: seen.Network, pool: s.Spec.Pool.Name}
	return a.detach(ctx, seen.Network.Attached(), 0)
}
