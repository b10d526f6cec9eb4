package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/decide"
	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

// Messages that report what the node answered. All others are in package decide.
const (
	msgNodeRefused   = "%s, but the node refused; the agent retries every minute: %v"
	msgLocalRefused  = "the node refused to change the caches or logs of the pool, which serves as it is; the agent retries with each pass: %v"
	msgGrowsUnused   = "the devices are attached, and grow once nothing uses the pool: %v"
	msgStuck         = "a command on the node does not end, as with a suspended pool or a dead device; see zpool status and dmesg there: %v"
	msgUnread        = "the node could not be read: %v"
	msgNetworkUnread = "the network devices could not be read: %v"
	msgDryRun        = " (dry run: the agent only logs what it would do)"
	// A dry run does not release a PgNodeStorage that is being deleted.
	msgDryRunReleases = "%w; the agent only logs what it would do (dry run)"
)

// outcomes of a pass, DevicesAttached first if the pool is on network devices. The error
// of a failed change belongs to the first decision that was due.
func (n *Node) outcomes(s *v1alpha1.PgNodeStorage, d decisions, r *PassResult, fullAt time.Time, failed error) []outcome.Outcome {
	var out []outcome.Outcome
	if r.Seen.Network != nil {
		networkFailed := failed
		if d.network.Action == nil {
			networkFailed = nil
		} else {
			failed = nil
		}
		out = append(out, networkOutcome(d.network, networkFailed))
	}
	out = append(out,
		poolOutcome(d.pool, failed),
		decide.PropertiesOutcome(s, d.pool.Outcome, d.changes, failed),
		devicesOutcome(decide.DevicesOutcome(s, r.Seen), r.localFailed),
		decide.CapacityOutcome(s, r.Seen, n.Clock.Now(), fullAt),
	)
	if o := decide.Complete(r.Status, r.Seen); o != nil {
		out = append(out, *o)
	}
	return out
}

// markDryRun makes r the result of a dry run, which changed nothing.
func (r *PassResult) markDryRun() {
	r.Changed, r.Drift = false, nil
	for i := range r.Outcomes {
		if r.Outcomes[i].Kind == outcome.Wait {
			r.Outcomes[i].Message += msgDryRun
		}
	}
}

// poolOutcome adds the node's answer to an import or a creation that it refused.
func poolOutcome(decision decide.PoolDecision, failed error) outcome.Outcome {
	if failed == nil || decision.Outcome.Kind == outcome.Done {
		return decision.Outcome
	}
	return outcome.InvalidBecause(v1alpha1.ConditionPoolReady, v1alpha1.ReasonHostCommandFailed,
		fmt.Sprintf(msgNodeRefused, decision.Outcome.Message, failed))
}

// devicesOutcome adds the node's answer to a change of caches or logs that it refused. Devices
// that fail are reported first.
func devicesOutcome(devices outcome.Outcome, failed error) outcome.Outcome {
	if failed == nil || devices.Kind != outcome.Done {
		return devices
	}
	o := outcome.InvalidBecause(v1alpha1.ConditionDevicesHealthy, v1alpha1.ReasonHostCommandFailed, fmt.Sprintf(msgLocalRefused, failed))
	o.Informative = true
	return o
}

// unreadOutcomes report every condition as unknown, so that no old one remains and none
// is lost.
func unreadOutcomes(s *v1alpha1.PgNodeStorage, pool outcome.Outcome) []outcome.Outcome {
	return []outcome.Outcome{
		pool,
		decide.PropertiesOutcome(s, pool, decide.Changes{}, nil),
		decide.DevicesOutcome(s, decide.Seen{}),
		decide.CapacityOutcome(s, decide.Seen{}, time.Time{}, time.Time{}),
	}
}

// endless reports whether a command or a read did not end in its time.
func endless(err error) bool {
	return errors.Is(err, host.ErrStuck) || errors.Is(err, context.DeadlineExceeded)
}

func unread(err error) outcome.Outcome {
	if endless(err) {
		return outcome.InvalidBecause(v1alpha1.ConditionPoolReady, v1alpha1.ReasonPoolSuspended,
			fmt.Sprintf(msgStuck, err))
	}
	o := outcome.WaitFor(v1alpha1.ConditionPoolReady, v1alpha1.ReasonHostCommandFailed, fmt.Sprintf(msgUnread, err))
	o.Unknown = true
	return o
}

// stillUsed reports whether a pool could not be released because something uses it. Its growth
// then waits; nothing failed.
func stillUsed(action decide.NetworkAction, failed error) bool {
	_, releases := action.(decide.ReleasePool)
	return releases && errors.Is(failed, zfs.ErrInUse)
}

// networkOutcome adds the node's answer to a change that it refused.
func networkOutcome(decision decide.NetworkDecision, failed error) outcome.Outcome {
	switch {
	case failed == nil:
		return decision.Outcome
	case stillUsed(decision.Action, failed):
		return outcome.DoneWith(v1alpha1.ConditionDevicesAttached, v1alpha1.ReasonGrowing,
			fmt.Sprintf(msgGrowsUnused, failed))
	}
	return outcome.InvalidBecause(v1alpha1.ConditionDevicesAttached, v1alpha1.ReasonHostCommandFailed,
		fmt.Sprintf(msgNodeRefused, decision.Outcome.Message, failed))
}
