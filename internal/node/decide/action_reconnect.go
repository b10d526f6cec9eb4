package decide

import (
	"context"
	"slices"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// ReconnectDevices connects devices to the successors of the server lives they belong
// to, which have everything written to them. It is safe below an imported pool.
type ReconnectDevices struct{ Devices []NetworkDevice }

// String names the action and its devices.
func (a ReconnectDevices) String() string { return "reconnect " + names(a.Devices) }

// Execute calls ReconnectDevices of e.
func (a ReconnectDevices) Execute(ctx context.Context, e NetworkExecutor) error {
	return e.ReconnectDevices(ctx, a)
}

// reconnectable returns the devices whose server shut down cleanly, or whose connection
// broke, and for which a server answers that has everything written to them.
func (d networkDecider) reconnectable() []NetworkDevice {
	return slices.DeleteFunc(d.net.in(DeviceReconnecting), func(n NetworkDevice) bool { return !d.net.Answers(n.Server) })
}

func (d networkDecider) reconnect(ready []NetworkDevice) NetworkDecision {
	decision := networkWait(v1alpha1.ReasonReconnecting, msgReconnecting, names(ready))
	decision.Action, decision.PoolWaits = ReconnectDevices{Devices: ready}, d.net.Stalls()
	return decision
}
