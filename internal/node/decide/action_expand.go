package decide

import "context"

// ExpandPool expands the pool to the size of its devices.
type ExpandPool struct{ Devices []NetworkDevice }

// String names the action and its devices.
func (a ExpandPool) String() string { return "expand " + names(a.Devices) }

// Execute calls ExpandPool of e.
func (a ExpandPool) Execute(ctx context.Context, e NetworkExecutor) error {
	return e.ExpandPool(ctx, a)
}
