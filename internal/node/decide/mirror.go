package decide

import (
	"slices"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

// partial: the pool serves, and each of its mirrors has a device that is attached.
func (d networkDecision) partial() bool {
	return !d.net.Unread && d.seen.Serves() && d.each(func(n NetworkDevice) bool { return d.net.State(n) == DeviceAttached })
}

// each of the mirrors has a device of a kind.
func (d networkDecision) each(is func(NetworkDevice) bool) bool {
	for _, export := range d.s.Spec.NetworkDevices.Exports {
		if !slices.ContainsFunc(d.net.Devices, func(n NetworkDevice) bool { return n.Export == export && is(n) }) {
			return false
		}
	}
	return true
}

// Survives says that a mirror serves from devices that lack nothing, so that others can
// be taken from it: each of its mirrors has one.
func Survives(s *v1alpha1.PgNodeStorage, seen Seen) bool {
	d := networkDecision{s: s, seen: seen, net: seen.Network}
	return seen.Pool != nil && d.net.Mirror && d.partial() && d.each(func(n NetworkDevice) bool { return survivor(n, seen) })
}

// survivorWaits is how long a device may have answered nothing that is to go on alone.
const survivorWaits = 5 * time.Second

// SettleTime after it took a device back ZFS may not tell yet what that lacks: its
// resilver begins some transaction groups later.
const SettleTime = time.Minute

// settling says that a device came back, and that what ZFS tells of it is not all yet.
func (r NetworkRecord) settling(device string) bool {
	_, returned := r.Returned[device]
	return returned || slices.Contains(r.Returning, device) || slices.Contains(r.Suspect, device)
}

// survivor is a device that is attached, that is not on its way back, nor still to be
// scrubbed since, and of which ZFS says that it has all and never failed.
func survivor(d NetworkDevice, seen Seen) bool {
	leg, others := legOf(d, seen.Status)
	return leg != nil && seen.Network.State(d) == DeviceAttached && seen.Network.Answers(d.Server) &&
		!seen.Network.Record.settling(d.Name()) && entire(*leg) && leg.Read+leg.Write+leg.Checksum == 0 && d.Attached.Waits < survivorWaits &&
		(!resilvers(seen.Status) || slices.ContainsFunc(others, resilvered))
}

// entire says that a disk lacks nothing that ZFS knows of.
func entire(disk zfs.VdevStatus) bool { return disk.State == zfs.Online && !resilvered(disk) }

// resilvered disks are told as soon as something was copied to them, and never in ZFS'
// JSON. So while a resilver is under way the others of a mirror are whole only where
// one is told.
func resilvered(disk zfs.VdevStatus) bool { return strings.Contains(disk.Note, "resilver") }

func resilvers(s zfs.Status) bool { return s.Scan.State == zfs.ScanInProgress && s.Scan.Resilver }

// legOf a pool that a device is, and the other disks of its mirror; nil if it is none.
func legOf(d NetworkDevice, s zfs.Status) (leg *zfs.VdevStatus, others []zfs.VdevStatus) {
	for _, v := range s.Vdevs {
		disks := v.Disks()
		if i := slices.IndexFunc(disks, func(disk zfs.VdevStatus) bool { return disk.Class == zfs.Data && isDisk(d, disk.Name) }); i >= 0 {
			return &disks[i], slices.Concat(disks[:i], disks[i+1:])
		}
	}
	return nil, nil
}

// DefaultRequestTimeout is how long a mirror waits for one of its parts, where nothing
// else is declared.
const DefaultRequestTimeout = time.Minute

// overdue devices of a mirror: requests wait for them for longer than is declared, or
// would, by what their server told.
func (d networkDecision) overdue() []NetworkDevice {
	if !d.net.Mirror {
		return nil
	}
	limit, err := time.ParseDuration(d.s.Spec.NetworkDevices.RequestTimeout)
	if err != nil {
		limit = DefaultRequestTimeout // the API server lets nothing else pass but none
	}
	return slices.DeleteFunc(d.net.in(DeviceAttached, DeviceReconnecting), func(n NetworkDevice) bool {
		told := d.net.Servers[n.Server]
		away := !d.net.Answers(n.Server) && told.Life == n.Attached.Life && d.now.Sub(told.Since) >= limit
		return n.Attached.Dropped || n.Attached.Waits < limit && !away
	})
}

// without some of its devices a mirror serves on. They are dropped, so that nothing
// waits for them, and return as far as their servers answer.
func (d networkDecision) without(gone []NetworkDevice) NetworkStep {
	pool := d.s.Spec.Pool.Name
	if !Survives(d.s, d.seen) {
		return networkWait(v1alpha1.ReasonServerNotRunning, "pool %s serves on without %s; none returns by itself, because ZFS does not say of the others that they have everything: wait for a resilver to end, or see zpool status for errors and run zpool clear where they are explained", pool, names(gone))
	}
	if drop := slices.DeleteFunc(slices.Clone(gone), settled); len(drop) > 0 {
		step := networkWait(v1alpha1.ReasonServerNotRunning, "pool %s serves on without %s: %s", pool, names(drop), strings.Join(d.endings(drop), "; "))
		step.Drop = drop
		return step
	}
	ready := slices.DeleteFunc(slices.Clone(gone), func(n NetworkDevice) bool { return !d.net.Answers(n.Server) })
	if len(ready) == 0 {
		return d.waitFor(d.away(), "; pool %s serves on without %s", pool, names(gone))
	}
	if _, problem := d.exports(ready); problem != nil { // none is made or grown here
		return NetworkStep{Outcome: *problem}
	}
	step := networkWait(v1alpha1.ReasonReturning, "being attached again, to return to the mirror of pool %s: %s", pool, names(ready))
	step.Return = ready
	return step
}

// settled: nothing waits for the device any more. One that fails what it is asked may
// still have requests from before.
func settled(d NetworkDevice) bool { return d.Attached == nil || d.Attached.Dropped }

// scrubbed says that a scrub that began after it was due has ended, and looked at
// everything: what ZFS repairs of a device that returned meanwhile takes its place.
func (d networkDecision) scrubbed() bool {
	scan, since := d.seen.Status.Scan, d.net.Record.ScrubSince
	return !since.IsZero() && scan.State == zfs.ScanFinished && !scan.Resilver && !scan.At.Before(since.Truncate(time.Second))
}

// mayScrub says that a scrub would look at everything now: no disk is away, and nothing
// else is under way. What a person paused stays so.
func (d networkDecision) mayScrub() bool {
	scan := d.seen.Status.Scan.State
	if scan == zfs.ScanInProgress || scan == zfs.ScanPaused {
		return false
	}
	for _, v := range d.seen.Status.Vdevs {
		if slices.ContainsFunc(v.Disks(), func(disk zfs.VdevStatus) bool { return disk.Class == zfs.Data && !entire(disk) }) {
			return false
		}
	}
	return true
}
