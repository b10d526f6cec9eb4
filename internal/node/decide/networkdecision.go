package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

// NetworkDecision is what the agent does next about the network devices.
type NetworkDecision struct {
	// Action that is due, or nil.
	Action NetworkAction
	// PoolWaits is true while I/O to the pool waits for its devices. The agent then
	// changes nothing else, because that change would wait too.
	PoolWaits bool
	// Outcome is the condition DevicesAttached, before the action.
	Outcome outcome.Outcome
}

// NetworkDecisionFor decides about the network devices of s. The agent attaches a device while
// the pool is not imported. Below an imported pool, it attaches one only as the leg of a mirror
// that serves without it. It reconnects a device, also below an imported pool, only to a server
// that has everything written to it. Anything else would hide from ZFS what a server lost when
// it ended.
func NetworkDecisionFor(s *v1alpha1.PgNodeStorage, seen Seen, now time.Time) NetworkDecision {
	d := networkDecider{s: s, seen: seen, net: seen.Network, now: now}
	switch {
	case seen.Pool != nil || seen.Network.Unread:
		return d.imported()
	case !seen.Network.Driver:
		return d.loadDriver()
	}
	return d.absent()
}

// networkDecider holds the inputs of one decision.
type networkDecider struct {
	s    *v1alpha1.PgNodeStorage
	seen Seen
	net  *Network
	now  time.Time
}

// absent decides while the pool is not imported: nothing depends on the devices.
func (d networkDecider) absent() NetworkDecision {
	if decision, due := d.detach(); due {
		return decision
	}
	if ready := d.reconnectable(); len(ready) > 0 {
		return d.reconnect(ready)
	}
	missing := slices.DeleteFunc(d.net.in(DeviceDetached), func(n NetworkDevice) bool { return !d.net.Answers(n.Server) })
	if len(missing) > 0 {
		return d.attach(missing)
	}
	if away := d.away(); len(away) > 0 {
		return d.waitFor(away, msgImportNeedsAll)
	}
	return d.attached()
}

// imported decides while the pool is imported, or may be.
func (d networkDecider) imported() NetworkDecision {
	if d.seen.Pool != nil && Foreign(d.seen) {
		return networkInvalid(v1alpha1.ReasonLayoutDiffers, msgPoolElsewhere, d.s.Spec.Pool.Name)
	}
	if ready := d.reconnectable(); len(ready) > 0 {
		return d.reconnect(ready)
	}
	gone := d.net.in(DeviceLost, DeviceDetached)
	switch {
	case len(gone) > 0 && d.net.Mirror && d.partial():
		return d.degraded(gone)
	case len(gone) > 0:
		return d.lost()
	}
	return d.present()
}

// present decides while no device is lost or detached, whether they answer or not.
func (d networkDecider) present() NetworkDecision {
	late, away := d.overdue(), d.away()
	switch {
	case len(late) > 0 && Survives(d.s, d.seen):
		decision := networkWait(v1alpha1.ReasonStoreUnavailable, msgDroppingOverdue, d.s.Spec.Pool.Name, names(late))
		decision.Action = DropDevices{Devices: late}
		return decision
	case len(away) > 0:
		return d.stalled(away)
	case len(late) > 0:
		decision := networkWait(v1alpha1.ReasonStoreUnavailable, msgNoCompleteLeg, d.s.Spec.Pool.Name, names(late))
		decision.PoolWaits = true
		return decision
	}
	return d.attached()
}

// stalled decides while servers are away that return with all their data.
func (d networkDecider) stalled(away []string) NetworkDecision {
	pool := d.s.Spec.Pool.Name
	if d.net.Mirror && d.seen.Serves() {
		decision := d.waitFor(away, msgMirrorWaits, pool)
		decision.PoolWaits = true
		return decision
	}
	decision := d.waitFor(away, msgRequestsWait, pool)
	decision.PoolWaits = d.net.Stalls()
	return decision
}

// degraded decides while a mirror serves without the devices that are gone. The agent
// drops these, so that no request waits for them, and reattaches those whose servers
// answer.
func (d networkDecider) degraded(gone []NetworkDevice) NetworkDecision {
	pool := d.s.Spec.Pool.Name
	if !Survives(d.s, d.seen) {
		return networkWait(v1alpha1.ReasonServerNotRunning, msgLegsIncomplete, pool, names(gone))
	}
	if drop := slices.DeleteFunc(slices.Clone(gone), settled); len(drop) > 0 {
		decision := networkWait(v1alpha1.ReasonServerNotRunning, msgDroppingLost, pool, names(drop), strings.Join(d.endings(drop), "; "))
		decision.Action = DropDevices{Devices: drop}
		return decision
	}
	ready := slices.DeleteFunc(slices.Clone(gone), func(n NetworkDevice) bool { return !d.net.Answers(n.Server) })
	if len(ready) == 0 {
		return d.waitFor(d.away(), msgServesWithout, pool, names(gone))
	}
	return d.reattach(ready)
}

// attached decides what is left to do once every device is attached.
func (d networkDecider) attached() NetworkDecision {
	done := NetworkDecision{Outcome: outcome.DoneWith(v1alpha1.ConditionDevicesAttached, v1alpha1.ReasonDevicesAttached,
		fmt.Sprintf(msgAttached, len(d.net.Devices)))}
	if d.seen.Pool == nil || !d.seen.Serves() {
		return done
	}
	record := d.net.Record
	expandable, _ := d.seen.Pool["expandsize"].Number()
	switch {
	case len(record.Returning) > 0:
		return d.online(record.Returning[0])
	case record.Scrub && d.scrubbed():
		done.Action = FinishScrub{}
	case record.Scrub && d.mayScrub():
		done.Action = StartScrub{}
	case expandable > 0:
		done.Action = ExpandPool{Devices: d.net.Devices}
	case d.smallest() < exportBytes(d.s):
		return d.grow(done)
	}
	return done
}

// names lists devices as server/export.
func names(devices []NetworkDevice) string {
	var out []string
	for _, d := range devices {
		out = append(out, d.Name())
	}
	return strings.Join(out, ", ")
}

func networkWait(reason, format string, args ...any) NetworkDecision {
	return NetworkDecision{Outcome: outcome.WaitFor(v1alpha1.ConditionDevicesAttached, reason, fmt.Sprintf(format, args...))}
}

func networkInvalid(reason, format string, args ...any) NetworkDecision {
	return NetworkDecision{Outcome: outcome.InvalidBecause(v1alpha1.ConditionDevicesAttached, reason, fmt.Sprintf(format, args...))}
}
