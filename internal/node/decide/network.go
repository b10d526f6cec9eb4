package decide

import (
	"path"
	"slices"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// Network is what one pass has seen of the network devices of a pool.
type Network struct {
	// Driver: the kernel has the NBD module. Without it no device is attached.
	Driver bool
	// BootID of the node's kernel.
	BootID string
	// Mirror of the servers; otherwise a stripe, the requests of which wait where a
	// server is away.
	Mirror bool
	// Lives of the servers by name.
	Lives map[string]Life
	// Servers by name, as each told last, be it in a former life.
	Servers map[string]zerofs.ServerStatus
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
	// Running: its record says so, which one that was killed says too. Held: the lock
	// that a server has for as long as it lives is held.
	Running, Held bool
	// Clean: it ended in order.
	Clean bool
	// Inherits former lives: what was written to devices of these is all here.
	Inherits []string
	// Problem of reading it; nothing else is known then.
	Problem string
}

// Has all that was written to devices of a life.
func (l Life) Has(life string) bool { return l.ID == life || slices.Contains(l.Inherits, life) }

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
	// Identifier that the kernel keeps with it.
	Identifier string
	// Life of the server that it is connected to: that which it was attached to, or the
	// one that it was reconnected to last.
	Life string
	// Dead: it was asked for a block and failed. It is asked only where there is a reason
	// to, and where it does not wait for ever.
	Dead bool
	// Waits is how long the oldest request has waited, as far as its server told, or all
	// of them without any answer.
	Waits time.Duration
	// Silent: requests have waited for long, which its server does not know of.
	Silent bool
	// Dropped: it was told to fail all that waits.
	Dropped bool
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
	// Asked is ZFS to take these of them back. It may not have ended that.
	Asked []string `json:"asked,omitempty"`
	// Returned devices, and when ZFS took them back: less than SettleTime ago.
	Returned map[string]time.Time `json:"returned,omitempty"`
	// Scrub is due: a device came back that may lack what ZFS takes for written.
	Scrub bool `json:"scrub,omitempty"`
	// Suspect devices are those, until the scrub has ended: the others are not to be
	// given up for one.
	Suspect []string `json:"suspect,omitempty"`
	// ScrubSince is when that was begun last; zero if it was not yet.
	ScrubSince time.Time `json:"scrubSince,omitzero"`
	// Reconnected devices by name.
	Reconnected map[string]Reconnection `json:"reconnected,omitempty"`
	// Left is the life of its server that a device was dropped from, by its name.
	Left map[string]string `json:"left,omitempty"`
	// Released: the pool was exported in order since it was imported last.
	Released bool `json:"released,omitempty"`
	// Grown is the size of exports that the pool was released for last.
	Grown uint64 `json:"grown,omitempty"`
	// Restart of the node that was decided on.
	Restart *Restart `json:"restart,omitempty"`
}

// Reconnection of a device to a successor of the life that the kernel knows it by.
type Reconnection struct {
	BootID string `json:"bootID"`
	From   string `json:"from"`
	To     string `json:"to"`
}

// Restart of a node, so that it is done once for what was lost.
type Restart struct {
	BootID string    `json:"bootID"`
	Lost   string    `json:"lost"`
	At     time.Time `json:"at"`
	// Done is written right before.
	Done bool `json:"done,omitempty"`
	// Wait after it until another one.
	Wait time.Duration `json:"wait,omitempty"`
}

// Name of a device in records and words.
func (d NetworkDevice) Name() string { return d.Server + "/" + d.Export }

// DeviceState of a network device.
type DeviceState string

// States. Reconnecting: its server was stopped in order, and requests wait until it is
// connected to the successor. Unknown is attached to a server of which nothing can be
// read.
const (
	DeviceAttached     DeviceState = "Attached"
	DeviceReconnecting DeviceState = "Reconnecting"
	DeviceDetached     DeviceState = "Detached"
	DeviceLost         DeviceState = "Lost"
	DeviceUnknown      DeviceState = "Unknown"
)

// State of a device. One is lost for good once it has failed, or once the life of its
// server has ended in any way but in order, and that is proven: by a record of another
// life, or by the lock that nobody holds.
func (n *Network) State(d NetworkDevice) DeviceState {
	life := n.Lives[d.Server]
	switch {
	case d.Attached == nil:
		return DeviceDetached
	case d.Attached.Dead:
		return DeviceLost
	case life.Problem != "":
		return DeviceUnknown
	case n.Fenced(d.Server), !life.Has(d.Attached.Life):
		return DeviceLost
	case n.Runs(d.Server) && life.ID == d.Attached.Life && !d.Attached.Silent:
		return DeviceAttached
	case n.Runs(d.Server), life.Clean:
		return DeviceReconnecting
	}
	return DeviceLost
}

// Runs says that a server lives.
func (n *Network) Runs(server string) bool {
	life := n.Lives[server]
	return life.Problem == "" && life.Running && life.Held && life.BootID == n.BootID
}

// phase of a server that lives; empty if it has not told in this life.
func (n *Network) phase(server string) zerofs.Phase {
	told := n.Servers[server]
	if !n.Runs(server) || told.Life != n.Lives[server].ID {
		return ""
	}
	return told.Phase
}

// Fenced says that a server was fenced off by another writer in its last life, be that
// over or not.
func (n *Network) Fenced(server string) bool {
	told := n.Servers[server]
	return told.Phase == zerofs.PhaseFenced && told.Life == n.Lives[server].ID
}

// Answers says that a server lives and does not hold requests, as far as it told.
func (n *Network) Answers(server string) bool {
	phase := n.phase(server)
	return n.Runs(server) && (phase == "" || phase == zerofs.PhaseServing)
}

// Stalls says that all I/O to a pool on these devices waits, as far as is known.
func (n *Network) Stalls() bool {
	return n != nil && !n.Mirror && slices.ContainsFunc(n.Devices, func(d NetworkDevice) bool {
		s := n.State(d)
		return s != DeviceUnknown && (s != DeviceAttached || !n.Answers(d.Server))
	})
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

// Complete says that every device is attached to a server that lives and answers.
func (n *Network) Complete() bool {
	return !slices.ContainsFunc(n.Devices, func(d NetworkDevice) bool {
		return n.State(d) != DeviceAttached || !n.Answers(d.Server)
	})
}

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
	return VolumeCount(s, seen) == 0 && seen.Serves() && seen.Network.Complete() && !Foreign(seen)
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

// Foreign says that the imported pool stands on no device of ours.
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

// isDisk says that a disk of the pool is this device, by its link, or by its number
// where a person imported the pool.
func isDisk(d NetworkDevice, name string) bool {
	return name == d.Link || d.Attached != nil && name == d.Attached.Path
}

// carries says that a pool that can be imported stands on a device of ours.
func (n *Network) carries(p zfs.Importable) bool {
	return slices.ContainsFunc(dataDisks(p), n.has)
}

// carriesAll disks of a pool that can be imported, each of which is there.
func (n *Network) carriesAll(p zfs.Importable) bool {
	return n.carries(p) && !slices.ContainsFunc(dataDisks(p), func(disk zfs.VdevStatus) bool { return disk.State != zfs.Online || !n.has(disk) })
}

// has a disk of a pool that can be imported, which it is told by the last part of its
// link.
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

// MayTakeOver says that a pool which another machine had last cannot be written to by it
// any more: each of its devices is the one of a server here that serves, and a prefix
// has one writer. Whoever opens it, by a conditional write into the bucket, ends the one
// before (SlateDB's writer epoch), which then holds its requests for ever.
func (n *Network) MayTakeOver(p zfs.Importable) bool {
	return n != nil && n.Complete() && n.carriesAll(p) && !slices.ContainsFunc(n.Devices, func(d NetworkDevice) bool {
		return !n.Runs(d.Server) || n.phase(d.Server) != zerofs.PhaseServing
	})
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
