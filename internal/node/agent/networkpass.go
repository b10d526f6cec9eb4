package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/blockdev"
	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// finishNetwork reads what depends on the state of the pool. That is which devices are dead,
// which exports could be attached, and the contents of new caches and logs.
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

// probeContents adds the contents of devices to seen: only a blank one may be used. One that
// cannot be read does not end the pass, because nothing else depends on it. After one that does
// not answer it reads no further device.
func (n *Node) probeContents(ctx context.Context, paths []string, seen *decide.Seen) error {
	if seen.Signatures == nil {
		seen.Signatures, seen.Unreadable = map[string]blockdev.Signatures{}, map[string]string{}
	}
	var silent error
	for _, path := range paths {
		found, err := blockdev.Signatures{}, silent
		if silent == nil {
			found, err = n.Devices.Blank(ctx, path)
		}
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("probe device: %w", ctx.Err())
		case errors.Is(err, blockdev.ErrNoSuchDevice):
			seen.Missing = append(seen.Missing, path)
		case err != nil:
			seen.Unreadable[path] = err.Error()
		default:
			seen.Signatures[path] = found
		}
		if endless(err) {
			silent = err
		}
	}
	return nil
}

// passUnread decides about the network devices if ZFS could not be read, for example
// because the pool is suspended. It executes only actions that are safe without ZFS.
func (n *Node) passUnread(ctx context.Context, s *v1alpha1.PgNodeStorage, net *decide.Network, err error) PassResult {
	r := PassResult{Outcomes: unreadOutcomes(s, unread(err))}
	if net == nil {
		if s.Spec.NetworkDevices != nil {
			o := outcome.WaitFor(v1alpha1.ConditionDevicesAttached, v1alpha1.ReasonHostCommandFailed, fmt.Sprintf(msgNetworkUnread, err))
			o.Unknown = true
			r.Outcomes = append([]outcome.Outcome{o}, r.Outcomes...)
		}
		return r
	}
	net.Unread = true
	r.Seen = decide.Seen{Network: net}
	n.probe(ctx, &r.Seen)
	decision := decide.NetworkDecisionFor(s, r.Seen, n.Clock.Now())
	action := decide.WithoutZFS(decision.Action)
	var failed error
	if action != nil {
		failed = n.actNetwork(ctx, s, r.Seen, decision)
	}
	r.Soon = decision.PoolWaits
	r.Restarting = n.announced(action, failed)
	r.Outcomes = append([]outcome.Outcome{networkOutcome(decision, failed)}, r.Outcomes...)
	return r
}
