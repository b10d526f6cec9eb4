package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pgstorage/pgstorage/internal/node/decide"
	"github.com/pgstorage/pgstorage/internal/node/nbd"
)

// ReattachDevices attaches devices again to the mirror of a pool that serves without
// them. It records each first: the next agent has to bring it online.
func (e networkExecutor) ReattachDevices(ctx context.Context, a decide.ReattachDevices) error {
	if err := e.survives(ctx); err != nil {
		return err
	}
	for _, d := range a.Devices {
		if err := e.reattach(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

func (e networkExecutor) reattach(ctx context.Context, d decide.NetworkDevice) error {
	if err := e.recordReturning(d); err != nil {
		return err
	}
	if d.Attached != nil {
		if err := e.disconnect(ctx, d); err != nil && !errors.Is(err, nbd.ErrHeld) {
			return err
		}
	}
	return e.attach(ctx, d)
}

// recordReturning records that a device is to be brought online. If its server has
// everything written to it, the device lacks only what ZFS knows about. Otherwise a
// scrub has to find the rest, and the device is suspect until then.
func (e networkExecutor) recordReturning(d decide.NetworkDevice) error {
	life := e.net.Record.Left[d.Name()]
	if d.Attached != nil {
		life = d.Attached.Life
	}
	e.net.Record.Asked = slices.DeleteFunc(slices.Clone(e.net.Record.Asked), func(name string) bool { return name == d.Name() })
	if !slices.Contains(e.net.Record.Returning, d.Name()) {
		e.net.Record.Returning = append(e.net.Record.Returning, d.Name())
	}
	if now := e.currentLife(d.Server); now.Problem != "" || !now.Has(life) {
		e.net.Record.Scrub, e.net.Record.ScrubSince = true, time.Time{}
		if !slices.Contains(e.net.Record.Suspect, d.Name()) {
			e.net.Record.Suspect = append(e.net.Record.Suspect, d.Name())
		}
	}
	return e.save()
}
