package decide

import (
	"context"
	"slices"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// OnlineDevice makes ZFS use a device again that was reattached to its mirror.
type OnlineDevice struct{ Device NetworkDevice }

// String names the action and its device.
func (a OnlineDevice) String() string { return "online " + a.Device.Name() }

// Execute calls OnlineDevice of e.
func (a OnlineDevice) Execute(ctx context.Context, e NetworkExecutor) error {
	return e.OnlineDevice(ctx, a)
}

// online decides about a device that the record lists as returning.
func (d networkDecider) online(name string) NetworkDecision {
	decision := networkWait(v1alpha1.ReasonReturning, msgReturning, name)
	i := slices.IndexFunc(d.net.Devices, func(n NetworkDevice) bool { return n.Name() == name })
	if i < 0 {
		decision.Action = ForgetReturning{}
		return decision
	}
	decision.Action = OnlineDevice{Device: d.net.Devices[i]}
	return decision
}
