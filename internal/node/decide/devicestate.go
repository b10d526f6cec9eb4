package decide

import (
	"slices"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// DeviceState of a network device.
type DeviceState string

// States of a network device. Reconnecting: its server shut down cleanly, and requests
// wait until the device is connected to the successor. Unknown: it is attached to a
// server whose life could not be read.
const (
	DeviceAttached     DeviceState = "Attached"
	DeviceReconnecting DeviceState = "Reconnecting"
	DeviceDetached     DeviceState = "Detached"
	DeviceLost         DeviceState = "Lost"
	DeviceUnknown      DeviceState = "Unknown"
)

// State of a device. A device is lost once it has failed, or once the life of its server has
// provably ended without a clean shutdown. The proof is a record of another life, or a lock
// that no process holds.
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

// Runs reports whether a server runs since this boot.
func (n *Network) Runs(server string) bool {
	life := n.Lives[server]
	return life.Problem == "" && life.Running && life.Held && life.BootID == n.BootID
}

// phase of a server that runs; empty before it wrote a status in this life.
func (n *Network) phase(server string) zerofs.Phase {
	told := n.Servers[server]
	if !n.Runs(server) || told.Life != n.Lives[server].ID {
		return ""
	}
	return told.Phase
}

// Fenced reports whether another writer fenced a server in its last life, also after
// that ended.
func (n *Network) Fenced(server string) bool {
	told := n.Servers[server]
	return told.Phase == zerofs.PhaseFenced && told.Life == n.Lives[server].ID
}

// Answers reports whether a server runs and, by its status, does not hold requests.
func (n *Network) Answers(server string) bool {
	phase := n.phase(server)
	return n.Runs(server) && (phase == "" || phase == zerofs.PhaseServing)
}

// Stalls reports whether all I/O to a pool on these devices waits, as far as is known.
func (n *Network) Stalls() bool {
	return n != nil && !n.Mirror && slices.ContainsFunc(n.Devices, func(d NetworkDevice) bool {
		s := n.State(d)
		return s != DeviceUnknown && (s != DeviceAttached || !n.Answers(d.Server))
	})
}

// in returns the devices in one of the states.
func (n *Network) in(states ...DeviceState) []NetworkDevice {
	var out []NetworkDevice
	for _, d := range n.Devices {
		if slices.Contains(states, n.State(d)) {
			out = append(out, d)
		}
	}
	return out
}

// Complete reports whether every device is attached to a server that runs and answers.
func (n *Network) Complete() bool {
	return !slices.ContainsFunc(n.Devices, func(d NetworkDevice) bool {
		return n.State(d) != DeviceAttached || !n.Answers(d.Server)
	})
}

// Attached returns the devices that are attached, to any life of their server.
func (n *Network) Attached() []NetworkDevice {
	return slices.DeleteFunc(slices.Clone(n.Devices), func(d NetworkDevice) bool { return d.Attached == nil })
}

// MayRelease reports whether a pool that no profile declares any more can be exported
// cleanly: it has no volumes, and all its devices work.
func MayRelease(s *v1alpha1.PgNodeStorage, seen Seen) bool {
	if seen.Pool == nil {
		return true
	}
	return VolumeCount(s, seen) == 0 && seen.Serves() && seen.Network.Complete() && !Foreign(seen)
}
