package decide

import (
	"context"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// DetachDevices detaches devices that no imported pool uses.
type DetachDevices struct {
	Devices []NetworkDevice
	// GrownTo is the size of exports in bytes. The agent records it once all devices are
	// detached, so that it detaches them once for each size.
	GrownTo uint64
}

// String names the action and its devices.
func (a DetachDevices) String() string { return "detach " + names(a.Devices) }

// Execute calls DetachDevices of e.
func (a DetachDevices) Execute(ctx context.Context, e NetworkExecutor) error {
	return e.DetachDevices(ctx, a)
}

// detach decides about devices that belong to an earlier life of a server, or are
// smaller than declared.
func (d networkDecider) detach() (decision NetworkDecision, due bool) {
	old := d.net.in(DeviceLost)
	for _, device := range d.net.in(DeviceAttached) {
		if device.Attached.Bytes < exportBytes(d.s) && d.net.Record.Grown != exportBytes(d.s) {
			old = append(old, device)
		}
	}
	if len(old) == 0 {
		return NetworkDecision{}, false
	}
	decision = networkWait(v1alpha1.ReasonAttaching, msgDetaching, names(old))
	decision.Action = DetachDevices{Devices: old, GrownTo: exportBytes(d.s)}
	return decision, true
}
