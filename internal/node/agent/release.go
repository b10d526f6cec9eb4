package agent

import (
	"context"
	"errors"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// ErrNotReleased says that a pool on network devices cannot be let go of yet.
var ErrNotReleased = errors.New("the pool on the network devices cannot be released while it has volumes, or while a device of it is not attached")

// LetGo of a PgNodeStorage that is deleted. A pool on disks stays as it is. One on
// network devices is released, then its devices: until that can be done the error is
// ErrNotReleased, and its servers must go on.
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
		seen, err := n.observe(ctx, decide.WithKnownPool(s, net.Record.PoolGUID), net)
		if err != nil {
			return err
		}
		if !decide.MayRelease(s, seen) {
			return ErrNotReleased
		}
		if err := n.release(ctx, s, seen); err != nil {
			return err
		}
	}
	return n.records(s).remove()
}

func (n *Node) release(ctx context.Context, s *v1alpha1.PgNodeStorage, seen decide.Seen) error {
	a := networkAct{Node: n, s: s, seen: seen, net: seen.Network, pool: s.Spec.Pool.Name}
	if seen.Pool != nil {
		if err := a.export(ctx); err != nil {
			return err
		}
	}
	return a.detach(ctx, seen.Network.Attached(), 0)
}
