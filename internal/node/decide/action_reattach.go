package decide

import (
	"context"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// ReattachDevices attaches devices again below an imported pool that serves without
// them.
type ReattachDevices struct{ Devices []NetworkDevice }

// String names the action and its devices.
func (a ReattachDevices) String() string { return "reattach " + names(a.Devices) }

// Execute calls ReattachDevices of e.
func (a ReattachDevices) Execute(ctx context.Context, e NetworkExecutor) error {
	return e.ReattachDevices(ctx, a)
}

// reattach decides about devices of a mirror whose servers answer again. It creates and
// grows no export: one that is missing has lost its data.
func (d networkDecider) reattach(ready []NetworkDevice) NetworkDecision {
	if _, problem := d.exports(ready); problem != nil {
		return NetworkDecision{Outcome: *problem}
	}
	decision := networkWait(v1alpha1.ReasonReturning, msgReattaching, d.s.Spec.Pool.Name, names(ready))
	decision.Action = ReattachDevices{Devices: ready}
	return decision
}
