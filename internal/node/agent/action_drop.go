package agent

import (
	"context"
	"errors"

	"github.com/pgstorage/pgstorage/internal/node/decide"
	"github.com/pgstorage/pgstorage/internal/node/nbd"
)

// DropDevices disconnects devices that a mirror serves without, so that requests waiting
// for them fail now. It records the life of each device first: the kernel forgets it.
func (e networkExecutor) DropDevices(ctx context.Context, a decide.DropDevices) error {
	if err := e.survives(ctx); err != nil {
		return err
	}
	for _, d := range a.Devices {
		if e.net.Record.Left == nil {
			e.net.Record.Left = map[string]string{}
		}
		e.net.Record.Left[d.Name()] = d.Attached.Life
		if err := e.save(); err != nil {
			return err
		}
		if err := e.disconnect(ctx, d); err != nil && !errors.Is(err, nbd.ErrHeld) {
			return err
		}
		e.dropped[d.Attached.Identifier] = true
	}
	return nil
}
