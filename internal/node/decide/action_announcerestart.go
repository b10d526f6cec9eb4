package decide

import "context"

// AnnounceRestart records that the agent restarts the node after RestartDelay, so that
// the condition reports the restart before it happens.
type AnnounceRestart struct{ Restart Restart }

// String names the action.
func (AnnounceRestart) String() string { return "announce restart" }

// Execute calls AnnounceRestart of e.
func (a AnnounceRestart) Execute(ctx context.Context, e NetworkExecutor) error {
	return e.AnnounceRestart(ctx, a)
}
