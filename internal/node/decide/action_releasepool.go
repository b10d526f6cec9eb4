package decide

import (
	"context"
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// ReleasePool exports the pool, so that its devices can be attached with their new size.
type ReleasePool struct{}

// String names the action.
func (ReleasePool) String() string { return "release pool" }

// Execute calls ReleasePool of e.
func (a ReleasePool) Execute(ctx context.Context, e NetworkExecutor) error {
	return e.ReleasePool(ctx, a)
}

// smallest is the size in bytes of the smallest attached device.
func (d networkDecider) smallest() uint64 {
	least := ^uint64(0)
	for _, device := range d.net.Devices {
		least = min(least, device.Attached.Bytes)
	}
	return least
}

// grow decides about devices that are smaller than declared. The kernel keeps the size
// that a device had when it was attached, so the pool has to be exported first. That
// waits until no volume of the pool is mounted.
func (d networkDecider) grow(done NetworkDecision) NetworkDecision {
	want := exportBytes(d.s)
	done.Outcome.Reason = v1alpha1.ReasonGrowing
	switch {
	case d.net.Record.Grown == want:
		done.Outcome.Message += fmt.Sprintf(msgGrewInVain, d.smallest())
	case d.net.Mounted:
		done.Outcome.Message += fmt.Sprintf(msgGrowsUnmounted, d.smallest(), want)
	default:
		decision := networkWait(v1alpha1.ReasonGrowing, msgGrowing, d.s.Spec.Pool.Name, want)
		decision.Action = ReleasePool{}
		return decision
	}
	return done
}
