package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/pgstorage/pgstorage/internal/node/blockdev"
	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// DetachDevices disconnects devices, and records GrownTo once all are disconnected. A
// device that is in use although our pool is not imported belongs to someone else: then
// it returns an error that wraps blockdev.ErrInUse.
func (e networkExecutor) DetachDevices(ctx context.Context, a decide.DetachDevices) error {
	for _, d := range a.Devices {
		in, err := e.Devices.Open(d.Attached.Path)
		if errors.Is(err, blockdev.ErrInUse) {
			return fmt.Errorf("%s (%s) is not detached: %w", d.Attached.Path, d.Name(), err)
		}
		if err == nil {
			_ = in.Close()
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
