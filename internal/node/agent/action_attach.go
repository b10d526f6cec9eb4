package agent

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/pgstorage/pgstorage/internal/node/decide"
	"github.com/pgstorage/pgstorage/internal/node/nbd"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// connections of each device. With more than one, a kernel that is short of workers for a
// moment (10 ms) runs all receivers of a device on its rescuer. It runs them one after the
// other, and the first never ends. Answers on the other connections are then lost until the
// request times out. (Linux 6.1, recv_work of nbd.c on a WQ_MEM_RECLAIM workqueue; seen on a
// machine under load.) Several devices have several queues too.
const connections = 1

// AttachDevices attaches devices, one after the other.
func (e networkExecutor) AttachDevices(ctx context.Context, a decide.AttachDevices) error {
	for _, d := range a.Devices {
		if err := e.attach(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// attach connects a device at the first free index, and links its name to it.
func (e networkExecutor) attach(ctx context.Context, d decide.NetworkDevice) error {
	want := e.device(d)
	ctx, cancel := context.WithTimeout(ctx, netlinkTimeout)
	defer cancel()
	states, err := e.NBD.Status(ctx)
	if err != nil {
		return err
	}
	var taken []int
	for _, state := range states {
		taken = append(taken, state.Index)
	}
	for {
		if want.Index, err = nbd.FreeIndex(taken); err != nil {
			return err
		}
		path, err := e.NBD.Attach(ctx, want)
		if errors.Is(err, nbd.ErrHeld) || errors.Is(err, nbd.ErrInUse) {
			taken = append(taken, want.Index) // another program's, or an earlier one that is still open
			continue
		}
		if err != nil {
			return err
		}
		delete(e.dropped, want.Identifier)
		return e.link(d.Link, path)
	}
}

// device returns how to attach d; the index is still missing. The kernel never times out
// its requests: OpenZFS counts a flush that the kernel abandoned as done. So only the
// agent may abandon requests, and only when the other mirror legs are complete.
func (e networkExecutor) device(d decide.NetworkDevice) nbd.Device {
	return nbd.Device{
		Export: d.Export, Connections: connections, DeadConnTimeout: nbd.Forever,
		Socket:     filepath.Join("/", e.Root, e.declaredServer(d.Server).Directory, zerofs.NBDSocket),
		Identifier: identity(e.s, d, e.net.Lives[d.Server].ID),
	}
}
