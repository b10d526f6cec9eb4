package decide

import "context"

// RestartNode restarts the node at once, as announced before.
type RestartNode struct{ Restart Restart }

// String names the action.
func (RestartNode) String() string { return "restart node" }

// Execute calls RestartNode of e.
func (a RestartNode) Execute(ctx context.Context, e NetworkExecutor) error {
	return e.RestartNode(ctx, a)
}
