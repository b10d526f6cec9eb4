package agent

import (
	"context"

	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// ExpandPool makes the pool use the full size of its devices.
func (e networkExecutor) ExpandPool(ctx context.Context, a decide.ExpandPool) error {
	for _, d := range a.Devices {
		if err := e.ZFS.Expand(ctx, e.pool, d.Link); err != nil {
			return err
		}
	}
	return nil
}
