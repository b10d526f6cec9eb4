package decide

import (
	"path"
	"slices"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// LinkDir is the directory on the node with the links to a profile's devices. Like the
// devices, it does not survive a boot.
func LinkDir(profile string) string { return path.Join("/run/pgstorage", profile) }

// NetworkDevices returns the declared devices, none attached. Names of servers have no
// dot, so no two links are the same.
func NetworkDevices(s *v1alpha1.PgNodeStorage) []NetworkDevice {
	var out []NetworkDevice
	for _, server := range s.Spec.NetworkDevices.Servers {
		for _, export := range s.Spec.NetworkDevices.Exports {
			out = append(out, NetworkDevice{
				Server: server.Name, Export: export,
				Link: path.Join(LinkDir(s.Spec.Profile), server.Name+"."+export),
			})
		}
	}
	return out
}

// exportBlock is the unit of export sizes in bytes.
const exportBlock = 4096

// exportBytes is the declared size of an export, in whole blocks.
func exportBytes(s *v1alpha1.PgNodeStorage) uint64 {
	n := uint64(max(0, s.Spec.NetworkDevices.ExportSize.Value()))
	return (n + exportBlock - 1) / exportBlock * exportBlock
}

// Foreign reports whether the imported pool uses none of the declared devices.
func Foreign(seen Seen) bool {
	for _, v := range seen.Status.Vdevs {
		if v.Class != zfs.Data {
			continue
		}
		for _, disk := range v.Disks() {
			if slices.ContainsFunc(seen.Network.Devices, func(d NetworkDevice) bool { return isDisk(d, disk.Name) }) {
				return false
			}
		}
	}
	return len(seen.Status.Vdevs) > 0
}

// isDisk reports whether a disk of the pool is this device: by its link, or by its path
// where a user imported the pool.
func isDisk(d NetworkDevice, name string) bool {
	return name == d.Link || d.Attached != nil && name == d.Attached.Path
}

// carries reports whether an importable pool uses one of the devices.
func (n *Network) carries(p zfs.Importable) bool {
	return slices.ContainsFunc(dataDisks(p), n.has)
}

// carriesAll reports whether all disks of an importable pool are devices here and online.
func (n *Network) carriesAll(p zfs.Importable) bool {
	return n.carries(p) && !slices.ContainsFunc(dataDisks(p), func(disk zfs.VdevStatus) bool { return disk.State != zfs.Online || !n.has(disk) })
}

// has reports whether a disk of an importable pool is one of the devices, by the last
// part of its path.
func (n *Network) has(disk zfs.VdevStatus) bool {
	return slices.ContainsFunc(n.Devices, func(d NetworkDevice) bool {
		return path.Base(disk.Name) == path.Base(d.Link) || d.Attached != nil && path.Base(disk.Name) == path.Base(d.Attached.Path)
	})
}

func dataDisks(p zfs.Importable) []zfs.VdevStatus {
	var out []zfs.VdevStatus
	for _, v := range p.Vdevs {
		if v.Class == zfs.Data {
			out = append(out, v.Disks()...)
		}
	}
	return out
}

// MayTakeOver reports whether another machine, which imported the pool last, can no longer
// write to it. Each of its devices belongs to a server here that serves, and a prefix has
// one writer. Opening the prefix, by a conditional write into the bucket, fences the
// writer before (SlateDB's writer epoch), which then holds its requests indefinitely.
func (n *Network) MayTakeOver(p zfs.Importable) bool {
	return n != nil && n.Complete() && n.carriesAll(p) && !slices.ContainsFunc(n.Devices, func(d NetworkDevice) bool {
		return !n.Runs(d.Server) || n.phase(d.Server) != zerofs.PhaseServing
	})
}

// networkVdevs returns the vdevs of a new pool.
func networkVdevs(s *v1alpha1.PgNodeStorage, devices []NetworkDevice) []zfs.Vdev {
	if s.Spec.NetworkDevices.Layout != v1alpha1.VdevMirror {
		var stripe zfs.Vdev
		for _, d := range devices {
			stripe.Devices = append(stripe.Devices, d.Link)
		}
		return []zfs.Vdev{stripe}
	}
	var out []zfs.Vdev
	for _, export := range s.Spec.NetworkDevices.Exports {
		mirror := zfs.Vdev{Type: "mirror"}
		for _, d := range devices {
			if d.Export == export {
				mirror.Devices = append(mirror.Devices, d.Link)
			}
		}
		out = append(out, mirror)
	}
	return out
}
