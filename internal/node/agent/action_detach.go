package agent

import (
	"context"
	"fmt"

	"github.com/pgstorage/pgstorage/internal/node/blockdev"
	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// DetachDevices disconnects devices, and records GrownTo once all are disconnected. A
// device that is in use although our pool is not imported belongs to someone else. It stays
// attached, and so does one that does not answer in time, because a disconnection would fail
// the requests of whatever uses it. The first returns an error that wraps blockdev.ErrInUse.
func (e networkExecutor) DetachDevices(ctx context.Context, a decide.DetachDevices) error {
	for _, d := range a.Devices {
		used, err := e.Devices.InUse(ctx, d.Attached.Path)
		if used {
			err = blockdev.ErrInUse
		}
		if err != nil {
			return fmt.Errorf("%s (%s) is not detached: %w", d.Attached.Path, d.Name(), err)
		}
		if err := e.disconnect(ctx, d); err != nil {
			return err
		}
	}
	e.net.Record.Grown = a.GrownTo
	return e.save()
}

func (e networkExecutor) disconnect(ctx context.Context, d decide.NetworkDevice) error {
	ctx, cancel := context.WithTimeout(ctx, netlinkTimeout)
	defer cancel()
	return e.NBD.Disconnect(ctx, d.Attached.Index, d.Attached.Identifier)
}
