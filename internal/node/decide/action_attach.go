package decide

import (
	"context"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// AttachDevices attaches devices while no imported pool uses them.
type AttachDevices struct{ Devices []NetworkDevice }

// String names the action and its devices.
func (a AttachDevices) String() string { return "attach " + names(a.Devices) }

// Execute calls AttachDevices of e.
func (a AttachDevices) Execute(ctx context.Context, e NetworkExecutor) error {
	return e.AttachDevices(ctx, a)
}

// attach decides about devices that are missing: their exports come first.
func (d networkDecider) attach(missing []NetworkDevice) NetworkDecision {
	changes, problem := d.exports(missing)
	if problem != nil {
		return NetworkDecision{Outcome: *problem}
	}
	if len(changes) > 0 {
		decision := networkWait(v1alpha1.ReasonExporting, msgExporting, len(changes), exportBytes(d.s))
		decision.Action = EnsureExports{Exports: changes}
		return decision
	}
	decision := networkWait(v1alpha1.ReasonAttaching, msgAttaching, names(missing))
	decision.Action = AttachDevices{Devices: missing}
	return decision
}
