package agent

import (
	"context"

	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// EnsureExports creates or grows exports, one after the other.
func (e networkExecutor) EnsureExports(ctx context.Context, a decide.EnsureExports) error {
	for _, change := range a.Exports {
		if err := e.ensureExport(ctx, change); err != nil {
			return err
		}
	}
	return nil
}

func (e networkExecutor) ensureExport(ctx context.Context, change decide.ExportChange) error {
	ctx, cancel := context.WithTimeout(ctx, exportsTimeout)
	defer cancel()
	exports := e.server(e.declaredServer(change.Server))
	if change.Create {
		return exports.Create(ctx, change.Name, change.Bytes)
	}
	return exports.Grow(ctx, change.Name, change.Bytes)
}
