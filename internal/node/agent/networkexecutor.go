package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// actNetwork executes the action of a decision. A dry run only reports its message.
func (n *Node) actNetwork(ctx context.Context, s *v1alpha1.PgNodeStorage, seen decide.Seen, decision decide.NetworkDecision) error {
	if n.DryRun != nil {
		n.DryRun([]string{"network devices:", decision.Outcome.Message})
		return nil
	}
	return decision.Action.Execute(ctx, n.networkExecutor(s, seen))
}

// networkExecutor changes the network devices of one PgNodeStorage. It has one file for each
// method. A killed agent can continue at any point: each method writes the record before an
// effect that the next agent could not detect by reading.
type networkExecutor struct {
	*Node
	s    *v1alpha1.PgNodeStorage
	seen decide.Seen
	net  *decide.Network
	pool string
}

var _ decide.NetworkExecutor = networkExecutor{}

func (n *Node) networkExecutor(s *v1alpha1.PgNodeStorage, seen decide.Seen) networkExecutor {
	return networkExecutor{Node: n, s: s, seen: seen, net: seen.Network, pool: s.Spec.Pool.Name}
}

// save writes the record durably.
func (e networkExecutor) save() error { return e.records(e.s).save(e.net.Record) }

// declaredServer returns the server of that name, or a zero one.
func (e networkExecutor) declaredServer(name string) v1alpha1.NodeServer {
	for _, server := range e.s.Spec.NetworkDevices.Servers {
		if server.Name == name {
			return server
		}
	}
	return v1alpha1.NodeServer{}
}

// ErrNoSurvivor is returned instead of dropping a device of a mirror, or returning one,
// when the mirror has no other complete device.
var ErrNoSurvivor = errors.New("ZFS no longer reports the other devices of the mirror as complete")

// survives reads the pool's status again, and returns ErrNoSurvivor if the mirror does
// not serve from complete devices any more.
func (e networkExecutor) survives(ctx context.Context) error {
	now, err := e.ZFS.Status(ctx, e.pool)
	if err != nil {
		return fmt.Errorf("read pool status: %w", err)
	}
	seen := e.seen
	seen.Status = now
	if !decide.Survives(e.s, seen) {
		return ErrNoSurvivor
	}
	return nil
}
