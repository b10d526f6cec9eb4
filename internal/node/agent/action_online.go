package agent

import (
	"context"
	"slices"
	"time"

	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// OnlineDevice runs zpool online for a device, or continues one that an earlier pass
// started. It records the start first, and afterwards that the device returned.
func (e networkExecutor) OnlineDevice(ctx context.Context, a decide.OnlineDevice) error {
	name := a.Device.Name()
	started := slices.Contains(e.net.Record.Asked, name)
	if !started {
		e.net.Record.Asked = append(e.net.Record.Asked, name)
		if err := e.save(); err != nil {
			return err
		}
	}
	if err := e.ZFS.Return(ctx, e.pool, a.Device.Link, started); err != nil {
		return err
	}
	is := func(other string) bool { return other == name }
	e.net.Record.Returning = slices.DeleteFunc(slices.Clone(e.net.Record.Returning), is)
	e.net.Record.Asked = slices.DeleteFunc(slices.Clone(e.net.Record.Asked), is)
	delete(e.net.Record.Left, name)
	if e.net.Record.Returned == nil {
		e.net.Record.Returned = map[string]time.Time{}
	}
	e.net.Record.Returned[name] = e.Clock.Now().UTC()
	return e.save()
}
