package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

// NetworkStep is what has to be done about the network devices: at most one of its
// members is set.
type NetworkStep struct {
	// LoadDriver loads the NBD module.
	LoadDriver bool
	// Detach devices that no imported pool stands on.
	Detach []NetworkDevice
	// Make exports, or grow them.
	Make []ExportChange
	// Attach devices that no imported pool stands on.
	Attach []NetworkDevice
	// Reconnect devices to the successors of the lives that they are connected to, which
	// have all that was written to them; also beneath a pool that is imported.
	Reconnect []NetworkDevice
	// Drop devices beneath a pool that is imported and serves without them: what waits
	// for them is to fail at once.
	Drop []NetworkDevice
	// Return devices beneath a pool that is imported and serves without them.
	Return []NetworkDevice
	// Online is a device that returned and that the pool has to take.
	Online *NetworkDevice
	// Scrub the pool; Scrubbed: one that was due has ended.
	Scrub, Scrubbed bool
	// Expand the pool to the size of these devices.
	Expand []NetworkDevice
	// Release the pool, so that its devices can be attached with their new size.
	Release bool
	// Grow is the size for which devices are detached, to be noted once they are.
	Grow uint64
	// Intend a restart of the node, and do it a while later.
	Intend, Restart *Restart
	// Hold: nothing else is to be changed meanwhile, as it would wait for the devices.
	Hold bool
	// Outcome is the condition DevicesAttached, before the step.
	Outcome outcome.Outcome
}

// None says that nothing is to be done.
func (n NetworkStep) None() bool {
	lists := len(n.Detach) + len(n.Make) + len(n.Attach) + len(n.Reconnect) + len(n.Drop) + len(n.Return) + len(n.Expand)
	return lists == 0 && !n.LoadDriver && n.Online == nil && !n.Scrub && !n.Scrubbed && !n.Release && n.Intend == nil && n.Restart == nil
}

// ExportChange makes an export, or grows one that has fewer bytes.
type ExportChange struct {
	Server, Name string
	Bytes        uint64
	Create       bool
}

// NetworkStepOf decides about the network devices. A device is attached while the pool
// is not imported; beneath an imported pool only as the part of a mirror that serves
// without it. It is reconnected, also beneath an imported pool, to a server that has all
// that was written to it. All else would hide from ZFS what a server lost with its end.
func NetworkStepOf(s *v1alpha1.PgNodeStorage, seen Seen, now time.Time) NetworkStep {
	d := networkDecision{s: s, seen: seen, net: seen.Network, now: now}
	switch {
	case seen.Pool != nil || seen.Network.Unread:
		return d.imported()
	case !seen.Network.Driver:
		step := networkWait(v1alpha1.ReasonAttaching, "the kernel module nbd is being loaded")
		step.LoadDriver = true
		return step
	}
	return d.absent()
}

type networkDecision struct {
	s    *v1alpha1.PgNodeStorage
	seen Seen
	net  *Network
	now  time.Time
}

// absent pool: devices come and go as they must.
func (d networkDecision) absent() NetworkStep {
	if step, due := d.detach(); due {
		return step
	}
	if ready := d.reconnectable(); len(ready) > 0 {
		return d.reconnecting(ready)
	}
	missing := slices.DeleteFunc(d.net.in(DeviceDetached), func(n NetworkDevice) bool { return !d.net.Answers(n.Server) })
	if len(missing) > 0 {
		return d.attach(missing)
	}
	if away := d.away(); len(away) > 0 {
		return d.waitFor(away, "; the pool is imported once every server answers, because a part of a mirror may lack commits that the others have")
	}
	return d.attached()
}

// attach devices, once their exports are there.
func (d networkDecision) attach(missing []NetworkDevice) NetworkStep {
	changes, problem := d.exports(missing)
	if problem != nil {
		return NetworkStep{Outcome: *problem}
	}
	if len(changes) > 0 {
		step := networkWait(v1alpha1.ReasonExporting, "%d exports are being made or grown to %d bytes", len(changes), exportBytes(d.s))
		step.Make = changes
		return step
	}
	step := networkWait(v1alpha1.ReasonAttaching, "being attached: %s", names(missing))
	step.Attach = missing
	return step
}

// detach what belongs to a former life of a server, or has not its size any more.
func (d networkDecision) detach() (NetworkStep, bool) {
	old := d.net.in(DeviceLost)
	for _, device := range d.net.in(DeviceAttached) {
		if device.Attached.Bytes < exportBytes(d.s) && d.net.Record.Grown != exportBytes(d.s) {
			old = append(old, device)
		}
	}
	if len(old) == 0 {
		return NetworkStep{}, false
	}
	step := networkWait(v1alpha1.ReasonAttaching, "being let go of, to be attached again: %s", names(old))
	step.Detach, step.Grow = old, exportBytes(d.s)
	return step, true
}

// exports that have to be made or grown for devices. One that was larger, or is gone
// beneath a pool that was there, is not made anew: what it held is lost.
func (d networkDecision) exports(devices []NetworkDevice) ([]ExportChange, *outcome.Outcome) {
	want := exportBytes(d.s)
	var out []ExportChange
	for _, device := range devices {
		offered, asked := d.net.Exports[device.Server]
		if !asked {
			o := networkWait(v1alpha1.ReasonServerNotRunning, "the server of store %s runs, but does not tell its exports: %s", device.Server, d.net.Unasked[device.Server]).Outcome
			return nil, &o
		}
		have := offered[device.Export]
		known := d.net.Record.Sizes[device.Name()]
		switch {
		case have < known || have == 0 && (knownGUID(d.s) != "" || d.seen.Pool != nil):
			o := networkInvalid(v1alpha1.ReasonExportShrunk, "export %s has %d bytes and had %d, so that a part of pool %s is gone; nothing is attached. Find out what changed the contents of its bucket before anything else; see the runbook ExportShrunk", device.Name(), have, known, d.s.Spec.Pool.Name).Outcome
			return nil, &o
		case have < want:
			out = append(out, ExportChange{Server: device.Server, Name: device.Export, Bytes: want, Create: have == 0})
		}
	}
	return out, nil
}

// imported pool.
func (d networkDecision) imported() NetworkStep {
	if d.seen.Pool != nil && Foreign(d.seen) {
		return networkInvalid(v1alpha1.ReasonLayoutDiffers, "the imported pool %s does not stand on the network devices; export it, or name another pool in a new profile", d.s.Spec.Pool.Name)
	}
	if ready := d.reconnectable(); len(ready) > 0 {
		return d.reconnecting(ready)
	}
	gone := d.net.in(DeviceLost, DeviceDetached)
	switch {
	case len(gone) > 0 && d.net.Mirror && d.partial():
		return d.without(gone)
	case len(gone) > 0:
		return d.lost()
	}
	return d.present()
}

// present devices, all of them, whether they answer or not.
func (d networkDecision) present() NetworkStep {
	late, away := d.overdue(), d.away()
	switch {
	case len(late) > 0 && Survives(d.s, d.seen):
		step := networkWait(v1alpha1.ReasonStoreUnavailable, "pool %s has waited for %s longer than requestTimeout, and goes on without", d.s.Spec.Pool.Name, names(late))
		step.Drop = late
		return step
	case len(away) > 0:
		return d.stalled(away)
	case len(late) > 0:
		step := networkWait(v1alpha1.ReasonStoreUnavailable, "pool %s waits for %s; no other part is known to have everything, so that none is given up", d.s.Spec.Pool.Name, names(late))
		step.Hold = true
		return step
	}
	return d.attached()
}

// stalled by servers that are away, and come back with all that they had.
func (d networkDecision) stalled(away []string) NetworkStep {
	pool := d.s.Spec.Pool.Name
	if d.net.Mirror && d.seen.Serves() {
		step := d.waitFor(away, "; pool %s waits for it up to requestTimeout, and goes on without where each of its mirrors has another part that lacks nothing", pool)
		step.Hold = true
		return step
	}
	step := d.waitFor(away, "; requests to pool %s wait meanwhile, and none is lost", pool)
	step.Hold = d.net.Stalls()
	return step
}

// attached: every device is; what is left to do with them.
func (d networkDecision) attached() NetworkStep {
	done := NetworkStep{Outcome: outcome.DoneWith(v1alpha1.ConditionDevicesAttached, v1alpha1.ReasonDevicesAttached,
		fmt.Sprintf("%d devices are attached to servers that run", len(d.net.Devices)))}
	if d.seen.Pool == nil || !d.seen.Serves() {
		return done
	}
	record := d.net.Record
	expandable, _ := d.seen.Pool["expandsize"].Number()
	switch {
	case len(record.Returning) > 0:
		return d.online(record.Returning[0])
	case record.Scrub && d.scrubbed():
		done.Scrubbed = true
	case record.Scrub && d.mayScrub():
		done.Scrub = true
	case expandable > 0:
		done.Expand = d.net.Devices
	case d.smallest() < exportBytes(d.s):
		return d.growing(done)
	}
	return done
}

func (d networkDecision) online(name string) NetworkStep {
	step := networkWait(v1alpha1.ReasonReturning, "%s is being taken back into its mirror", name)
	i := slices.IndexFunc(d.net.Devices, func(n NetworkDevice) bool { return n.Name() == name })
	if i < 0 { // not declared any more; the record is cleared all the same
		step.Online = &NetworkDevice{}
		return step
	}
	step.Online = &d.net.Devices[i]
	return step
}

func (d networkDecision) smallest() uint64 {
	least := ^uint64(0)
	for _, device := range d.net.Devices {
		least = min(least, device.Attached.Bytes)
	}
	return least
}

// growing: a device has its size from when it was attached, so that the pool has to be
// released for it. That is done where nobody uses it.
func (d networkDecision) growing(done NetworkStep) NetworkStep {
	want := exportBytes(d.s)
	done.Outcome.Reason = v1alpha1.ReasonGrowing
	switch {
	case d.net.Record.Grown == want:
		done.Outcome.Message += fmt.Sprintf("; they have %d bytes, and no more were offered when they were attached last", d.smallest())
	case d.net.Mounted:
		done.Outcome.Message += fmt.Sprintf("; they grow from %d to %d bytes when no volume of the pool is mounted on the node: switch its databases over and stop them there for a minute (or drain the node), or wait for its next restart", d.smallest(), want)
	default:
		step := networkWait(v1alpha1.ReasonGrowing, "pool %s is being released, so that its devices can grow to %d bytes", d.s.Spec.Pool.Name, want)
		step.Release = true
		return step
	}
	return done
}

// names of devices.
func names(devices []NetworkDevice) string {
	var out []string
	for _, d := range devices {
		out = append(out, d.Name())
	}
	return strings.Join(out, ", ")
}

func networkWait(reason, format string, args ...any) NetworkStep {
	return NetworkStep{Outcome: outcome.WaitFor(v1alpha1.ConditionDevicesAttached, reason, fmt.Sprintf(format, args...))}
}

func networkInvalid(reason, format string, args ...any) NetworkStep {
	return NetworkStep{Outcome: outcome.InvalidBecause(v1alpha1.ConditionDevicesAttached, reason, fmt.Sprintf(format, args...))}
}
