package decide

import (
	"context"
	"slices"
	"time"
)

// DropDevices disconnects devices below an imported pool that serves without them, so
// that requests waiting for them fail at once.
type DropDevices struct{ Devices []NetworkDevice }

// String names the action and its devices.
func (a DropDevices) String() string { return "drop " + names(a.Devices) }

// Execute calls DropDevices of e.
func (a DropDevices) Execute(ctx context.Context, e NetworkExecutor) error {
	return e.DropDevices(ctx, a)
}

// DefaultRequestTimeout is how long a mirror waits for one of its legs if the profile
// declares no requestTimeout.
const DefaultRequestTimeout = time.Minute

// overdue returns the devices of a mirror for which requests have waited longer than
// requestTimeout, or would, according to the last status of their server.
func (d networkDecider) overdue() []NetworkDevice {
	if !d.net.Mirror {
		return nil
	}
	limit, err := time.ParseDuration(d.s.Spec.NetworkDevices.RequestTimeout)
	if err != nil {
		limit = DefaultRequestTimeout // the API server admits only durations and nothing
	}
	return slices.DeleteFunc(d.net.in(DeviceAttached, DeviceReconnecting), func(n NetworkDevice) bool {
		reported := d.net.Servers[n.Server]
		away := !d.net.Answers(n.Server) && reported.Life == n.Attached.Life && d.now.Sub(reported.Since) >= limit
		return n.Attached.Dropped || n.Attached.Waits < limit && !away
	})
}

// settled reports whether no request waits for the device any more. A device that fails
// its requests may still have older ones that wait.
func settled(d NetworkDevice) bool { return d.Attached == nil || d.Attached.Dropped }
