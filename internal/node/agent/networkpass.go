package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/blockdev"
	"github.com/pgstorage/pgstorage/internal/node/decide"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

// finishNetwork reads what depends on the pool: which devices are dead, what could be
// attached, and what caches and logs hold.
func (n *Node) finishNetwork(ctx context.Context, s *v1alpha1.PgNodeStorage, seen *decide.Seen) error {
	if seen.Pool != nil {
		n.probe(ctx, seen)
	}
	if seen.Pool == nil || seen.Serves() && s.Spec.NetworkDevices.Layout == v1alpha1.VdevMirror {
		n.listExports(ctx, s, seen.Network)
	}
	var err error
	if seen.Pool != nil {
		if seen.Network.Mounted, err = n.mounted(s.Spec.Pool.Name); err != nil {
			return err
		}
	}
	return n.probeContents(ctx, decide.LocalCandidates(s, *seen), seen)
}

// probeContents of devices, for whoever has to know that they are blank.
func (n *Node) probeContents(ctx context.Context, paths []string, seen *decide.Seen) error {
	for _, path := range paths {
		found, err := n.Devices.Blank(ctx, path)
		switch {
		case errors.Is(err, blockdev.ErrNoSuchDevice):
			seen.Missing = append(seen.Missing, path)
		case err != nil:
			return fmt.Errorf("probe device: %w", err)
		default:
			if seen.Signatures == nil {
				seen.Signatures = map[string]blockdev.Signatures{}
			}
			seen.Signatures[path] = found
		}
	}
	return nil
}

// passUnread judges the network devices where ZFS could not be read, as of a pool that
// is suspended: all that may follow is a restart of the node, or a reconnection, for
// which ZFS may wait.
func (n *Node) passUnread(ctx context.Context, s *v1alpha1.PgNodeStorage, net *decide.Network, err error) Result {
	r := Result{Outcomes: unreadOutcomes(s, unread(err))}
	if net == nil {
		if s.Spec.NetworkDevices != nil {
			o := outcome.WaitFor(v1alpha1.ConditionDevicesAttached, v1alpha1.ReasonHostCommandFailed, fmt.Sprintf("the network devices could not be read: %v", err))
			o.Unknown = true
			r.Outcomes = append([]outcome.Outcome{o}, r.Outcomes...)
		}
		return r
	}
	net.Unread = true
	r.Seen = decide.Seen{Network: net}
	n.probe(ctx, &r.Seen)
	step := decide.NetworkStepOf(s, r.Seen, n.Clock.Now())
	due := decide.NetworkStep{Intend: step.Intend, Restart: step.Restart, Reconnect: step.Reconnect, Outcome: step.Outcome}
	var failed error
	if !due.None() {
		failed = n.actNetwork(ctx, s, r.Seen, due)
	}
	r.Soon = step.Hold
	r.Restarting = due.Intend != nil && failed == nil && n.DryRun == nil
	r.Outcomes = append([]outcome.Outcome{networkOutcome(step, failed)}, r.Outcomes...)
	return r
}

// stillUsed says that a pool could not be released because something uses it, which is
// no fault: it only has to wait with its growth.
func stillUsed(step decide.NetworkStep, failed error) bool {
	return step.Release && errors.Is(failed, zfs.ErrInUse)
}

// networkOutcome names what the node answered to a change that it refused.
func networkOutcome(step decide.NetworkStep, failed error) outcome.Outcome {
	switch {
	case failed == nil:
		return step.Outcome
	case stillUsed(step, failed):
		return outcome.DoneWith(v1alpha1.ConditionDevicesAttached, v1alpha1.ReasonGrowing,
			fmt.Sprintf("the devices are attached, and grow once nothing uses the pool: %v", failed))
	}
	return outcome.InvalidBecause(v1alpha1.ConditionDevicesAttached, v1alpha1.ReasonHostCommandFailed,
		fmt.Sprintf("%s, but the node refused, and it is tried again every minute: %v", step.Outcome.Message, failed))
}
