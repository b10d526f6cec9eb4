package decide

import (
	"slices"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

// partial: the pool serves, and each of its mirrors has a device that is attached.
func (d networkDecider) partial() bool {
	return !d.net.Unread && d.seen.Serves() && d.each(func(n NetworkDevice) bool { return d.net.State(n) == DeviceAttached })
}

// each of the mirrors has a device of a kind.
func (d networkDecider) each(is func(NetworkDevice) bool) bool {
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
	d := networkDecider{s: s, seen: seen, net: seen.Network}
	return seen.Pool != nil && d.net.Mirror && d.partial() && d.each(func(n NetworkDevice) bool { return survivor(n, seen) })
}

// survivorWaits is how long a device may have answered nothing that is to go on alone.
const survivorWaits = 5 * time.Second

// SettleTime after a device returned, ZFS may not show yet what that device lacks: its resilver
// begins some transaction groups later.
const SettleTime = time.Minute

// settling reports whether a device came back, and ZFS may not show yet what it lacks.
func (r NetworkRecord) settling(device string) bool {
	_, returned := r.Returned[device]
	return returned || slices.Contains(r.Returning, device) || slices.Contains(r.Suspect, device)
}

// survivor is an attached device that ZFS reports as complete and that never failed. It is not
// returning, and needs no scrub since it returned.
func survivor(d NetworkDevice, seen Seen) bool {
	leg, others := legOf(d, seen.Status)
	return leg != nil && seen.Network.State(d) == DeviceAttached && seen.Network.Answers(d.Server) &&
		!seen.Network.Record.settling(d.Name()) && entire(*leg) && leg.Read+leg.Write+leg.Checksum == 0 && d.Attached.Waits < survivorWaits &&
		(!resilvers(seen.Status) || slices.ContainsFunc(others, resilvered))
}

// entire says that a disk lacks nothing that ZFS knows of.
func entire(disk zfs.VdevStatus) bool { return disk.State == zfs.Online && !resilvered(disk) }

// resilvered reports whether ZFS shows a disk as resilvered. It does so as soon as it copied
// something to the disk, and never in its JSON. So while a resilver is under way, the other
// legs of a mirror count as complete only where ZFS shows such a disk.
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
