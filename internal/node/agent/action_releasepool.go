package agent

import (
	"context"

	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// ReleasePool exports the pool, and then records that it was exported cleanly.
func (e networkExecutor) ReleasePool(ctx context.Context, _ decide.ReleasePool) error {
	if err := e.ZFS.ExportPool(ctx, e.pool); err != nil {
		return err
	}
	e.net.Record.Released = true
	return e.save()
}
