package agent

import (
	"context"

	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// LoadDriver loads the kernel module nbd.
func (e networkExecutor) LoadDriver(ctx context.Context, _ decide.LoadDriver) error {
	_, err := e.ZFS.Change(ctx, "modprobe", "nbd")
	return err
}
