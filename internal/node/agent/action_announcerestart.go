package agent

import (
	"context"

	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// AnnounceRestart records a restart of the node that a later pass performs.
func (e networkExecutor) AnnounceRestart(_ context.Context, a decide.AnnounceRestart) error {
	e.net.Record.Restart = &a.Restart
	return e.save()
}
