package nodestorage

import (
	"path"
	"slices"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/zfs"
)

// Network is what one pass has seen of the network devices of a pool.
type Network struct {
	// Driver: the kernel has the NBD module. Without it no device is attached.
	Driver bool
	// BootID of the node's kernel.
	BootID string
	// Lives of the servers by name.
	Lives map[string]Life
	// Devices in the order of servers, and of exports in each.
	Devices []NetworkDevice
	// Exports of the servers that were asked, by server and name, in bytes; asked are
	// those that run while a device of theirs is missing.
	Exports map[string]map[string]uint64
	// Unasked servers did not answer, with what they said.
	Unasked map[string]string
	Record  NetworkRecord
	// Mounted: a volume of the pool is mounted on the node.
	Mounted bool
	// Unread: what ZFS has of the pool could not be read. It may be imported.
	Unread bool
	// FlushLatency of late; 0 where none was measured.
	FlushLatency time.Duration
}

// Life of a server: from a start of its process to its end.
type Life struct {
	ID, BootID string
	Running    bool
	// Clean: it ended in order. Previous is the life before it, and PreviousClean says
	// the same of that one.
	Clean         bool
	Previous      string
	PreviousClean bool
	// Problem of reading it; nothing else is known then.
	Problem string
}

// NetworkDevice is an export of a server, and the device that it is attached to.
type NetworkDevice struct {
	Server, Export string
	// Link is the path by which the pool knows it, whatever its number is.
	Link string
	// Attached is nil while it is not.
	Attached *Attachment
}

// Attachment as the kernel tells it.
type Attachment struct {
	Index int
	// Path of the device, such as /dev/nbd0.
	Path  string
	Bytes uint64
	// Life of the server that it was attached to, which the kernel keeps with it.
	Life string
	// Dead: it was asked for a block and failed. It is asked only where the pool shows
	// a reason.
	Dead bool
	// InFlight requests.
	InFlight int
}

// NetworkRecord is what outlives the agent on the node's disk, beside what the kernel
// knows.
type NetworkRecord struct {
	// PoolGUID of the pool on the devices.
	PoolGUID string `json:"poolGUID,omitempty"`
	// Sizes that devices had, by name, in bytes: an export never is smaller.
	Sizes map[string]uint64 `json:"sizes,omitempty"`
	// Returning devices were attached again beneath the imported pool, and are not yet
	// back in their mirror.
	Returning []string `json:"returning,omitempty"`
	// Scrub is due: a device came back that may lack what ZFS takes for written.
	Scrub bool `json:"scrub,omitempty"`
	// Grown is the size of exports that the pool was released for last.
	Grown uint64 `json:"grown,omitempty"`
	// Restart of the node that was decided on.
	Restart *Restart `json:"restart,omitempty"`
}

// Restart of a node, so that it is done once for what was lost.
type Restart struct {
	BootID string    `json:"bootID"`
	Lost   string    `json:"lost"`
	At     time.Time `json:"at"`
	// Done is written right before.
	Done bool `json:"done,omitempty"`
}

// Name of a device in records and words.
func (d NetworkDevice) Name() string { return d.Server + "/" + d.Export }

// DeviceState of a network device.
type DeviceState string

// States. Unknown is attached to a server of which nothing can be read.
const (
	DeviceAttached DeviceState = "Attached"
	DeviceDetached DeviceState = "Detached"
	DeviceLost     DeviceState = "Lost"
	DeviceUnknown  DeviceState = "Unknown"
)

// State of a device. One is lost for good once its server's life has ended, however
// it ended: the kernel's connections died with it.
func (n *Network) State(d NetworkDevice) DeviceState {
	life := n.Lives[d.Server]
	switch {
	case d.Attached == nil:
		return DeviceDetached
	case d.Attached.Dead:
		return DeviceLost
	case life.Problem != "":
		return DeviceUnknown
	case life.ID != d.Attached.Life || !n.Runs(d.Server):
		return DeviceLost
	}
	return DeviceAttached
}

// Runs says that a server lives, by its record.
func (n *Network) Runs(server string) bool {
	life := n.Lives[server]
	return life.Problem == "" && life.Running && life.BootID == n.BootID
}

// in a state, of all devices.
func (n *Network) in(states ...DeviceState) []NetworkDevice {
	var out []NetworkDevice
	for _, d := range n.Devices {
		if slices.Contains(states, n.State(d)) {
			out = append(out, d)
		}
	}
	return out
}

// Complete says that every device is attached to a server that lives.
func (n *Network) Complete() bool { return len(n.in(DeviceAttached)) == len(n.Devices) }

// Attached devices, to whatever life of their server.
func (n *Network) Attached() []NetworkDevice {
	return slices.DeleteFunc(slices.Clone(n.Devices), func(d NetworkDevice) bool { return d.Attached == nil })
}

// MayRelease says that a pool that nobody declares any more can be released in order:
// no volume is on it, and all its devices do their work.
func MayRelease(s *v1alpha1.PgNodeStorage, seen Seen) bool {
	if seen.Pool == nil {
		return true
	}
	return VolumeCount(s, seen) == 0 && seen.Serves() && seen.Network.Complete() && !foreign(seen)
}

// LinkDir on the node has the links to a profile's devices. It is gone after a boot,
// as the devices are.
func LinkDir(profile string) string { return path.Join("/run/pgstorage", profile) }

// NetworkDevices that are declared, none attached. A server's name has no dot, so that
// no two links are the same.
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

// exportBlock is what the size of an export is a multiple of.
const exportBlock = 4096

// exportBytes that are declared, in whole blocks.
func exportBytes(s *v1alpha1.PgNodeStorage) uint64 {
	n := uint64(max(0, s.Spec.NetworkDevices.ExportSize.Value()))
	return (n + exportBlock - 1) / exportBlock * exportBlock
}

// foreign says that the imported pool stands on no device of ours.
func foreign(seen Seen) bool {
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

// isDisk says that a disk of the pool is this device, by its link, or by its number
// where a person imported the pool.
func isDisk(d NetworkDevice, name string) bool {
	return name == d.Link || d.Attached != nil && name == d.Attached.Path
}

// networkVdevs of a new pool.
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
