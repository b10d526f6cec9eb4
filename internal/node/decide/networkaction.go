package decide

import (
	"context"
	"fmt"
)

// NetworkAction is one change of a node's network devices, or of the pool on them. At
// most one is due at a time: the next pass reads back what it changed, and decides again.
type NetworkAction interface {
	// String names the action and its devices.
	fmt.Stringer
	// Execute calls the executor's method for this action.
	Execute(ctx context.Context, e NetworkExecutor) error
}

// NetworkExecutor has one method for each action, so that the compiler finds an action
// that nothing executes. Package agent implements it on the node.
type NetworkExecutor interface {
	LoadDriver(ctx context.Context, a LoadDriver) error
	DetachDevices(ctx context.Context, a DetachDevices) error
	EnsureExports(ctx context.Context, a EnsureExports) error
	AttachDevices(ctx context.Context, a AttachDevices) error
	ReconnectDevices(ctx context.Context, a ReconnectDevices) error
	DropDevices(ctx context.Context, a DropDevices) error
	ReattachDevices(ctx context.Context, a ReattachDevices) error
	OnlineDevice(ctx context.Context, a OnlineDevice) error
	ForgetReturning(ctx context.Context, a ForgetReturning) error
	StartScrub(ctx context.Context, a StartScrub) error
	FinishScrub(ctx context.Context, a FinishScrub) error
	ExpandPool(ctx context.Context, a ExpandPool) error
	ReleasePool(ctx context.Context, a ReleasePool) error
	AnnounceRestart(ctx context.Context, a AnnounceRestart) error
	RestartNode(ctx context.Context, a RestartNode) error
}

// WithoutZFS returns the action if it is safe while ZFS does not answer. That is a
// reconnection, for which ZFS may be waiting, or a restart of the node. Otherwise it returns
// nil.
func WithoutZFS(action NetworkAction) NetworkAction {
	switch action.(type) {
	case ReconnectDevices, AnnounceRestart, RestartNode:
		return action
	}
	return nil
}
