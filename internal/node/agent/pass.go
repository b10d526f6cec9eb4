package agent

import (
	"context"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// PassResult is what one pass read and changed.
type PassResult struct {
	// Status as the pass read it before it changed anything, without conditions.
	Status   v1alpha1.PgNodeStorageStatus
	Outcomes []outcome.Outcome
	// Changed is true if the pass changed something: another pass must read it back.
	Changed bool
	// Drift describes what the pass repaired.
	Drift []string
	// Restarting is true if a pass in a while restarts the machine.
	Restarting bool
	// Soon is true while the network devices wait for something that may be there within
	// seconds: the next pass should follow soon.
	Soon bool
	// Seen is everything the pass read, for metrics.
	Seen decide.Seen
	// localFailed is the node's answer to a change of caches or logs that it refused.
	localFailed error
}

// Pass reads the node, decides, and makes at most one kind of change. It changes the network
// devices, imports or creates the pool, or sets properties that differ. On a node that is as
// declared it runs five commands. It reports nothing as done: the next pass reads it back.
// A pass of volumes in memory mounts and unmounts all that is due.
func (n *Node) Pass(ctx context.Context, s *v1alpha1.PgNodeStorage) (PassResult, error) {
	if s.Spec.Memory != nil {
		return n.passMemory(ctx, s)
	}
	var net *decide.Network
	if s.Spec.NetworkDevices != nil {
		var err error
		if net, err = n.observeNetwork(ctx, s); err != nil {
			return n.passUnread(ctx, s, nil, err), err
		}
	}
	s, seen, err := n.observeKnown(ctx, s, net)
	if err != nil {
		return n.passUnread(ctx, s, net, err), err
	}
	d := n.decide(s, seen)
	fullAt := n.fullAt(s, seen)
	r := PassResult{Seen: seen, Status: decide.Status(s, seen, fullAt)}
	failed := n.act(ctx, s, d, &r)
	r.Soon = d.network.PoolWaits
	r.Outcomes = n.outcomes(s, d, &r, fullAt, failed)
	if n.DryRun != nil {
		r.markDryRun()
	}
	return r, nil
}

// observeKnown observes s with the pool that the node recorded, and records the pool that
// it finds imported.
func (n *Node) observeKnown(ctx context.Context, s *v1alpha1.PgNodeStorage, net *decide.Network) (*v1alpha1.PgNodeStorage, decide.Seen, error) {
	made, err := n.made(s).load()
	if err != nil {
		return s, decide.Seen{}, err
	}
	recorded := made.GUID
	if net != nil {
		recorded = net.Record.PoolGUID
	}
	s = decide.WithKnownPool(s, recorded)
	seen, err := n.observe(ctx, s, net)
	if err != nil {
		return s, seen, err
	}
	seen.Made = made
	return s, seen, n.rememberMade(s, &seen)
}

// decisions of a pass, in the order in which they are due.
type decisions struct {
	network decide.NetworkDecision
	pool    decide.PoolDecision
	local   decide.LocalDecision
	changes decide.Changes
}

func (n *Node) decide(s *v1alpha1.PgNodeStorage, seen decide.Seen) decisions {
	d := decisions{pool: decide.Pool(s, seen)}
	if seen.Network != nil {
		d.network = decide.NetworkDecisionFor(s, seen, n.Clock.Now())
		d.local = decide.LocalDevices(s, seen)
	}
	if d.pool.Outcome.Kind == outcome.Done {
		d.changes = decide.Properties(s, seen)
	}
	return d
}

func (n *Node) fullAt(s *v1alpha1.PgNodeStorage, seen decide.Seen) time.Time {
	allocated, ok := seen.Pool["allocated"].Number()
	if !ok {
		return time.Time{}
	}
	trend := n.trends[s.Name]
	if trend == nil {
		trend = &decide.Trend{}
		n.trends[s.Name] = trend
	}
	trend.Add(n.Clock.Now(), allocated)
	free, _ := seen.Pool["free"].Number()
	return decide.Foreseen(s, n.Clock.Now(), trend.FullAt(free))
}
