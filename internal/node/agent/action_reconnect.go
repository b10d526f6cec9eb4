package agent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pgstorage/pgstorage/internal/node/decide"
	"github.com/pgstorage/pgstorage/internal/node/nbd"
)

// ReconnectDevices connects devices to the current lives of their servers. It records
// each one after the reconnection: a crash in between repeats it safely. A leg of a
// mirror may have failed meanwhile, so it is first recorded as returning.
func (e networkExecutor) ReconnectDevices(ctx context.Context, a decide.ReconnectDevices) error {
	for _, d := range a.Devices {
		if e.net.Mirror {
			if err := e.recordReturning(d); err != nil {
				return err
			}
		}
		if err := e.reconnect(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

func (e networkExecutor) reconnect(ctx context.Context, d decide.NetworkDevice) error {
	want := e.device(d)
	from, _ := strings.CutPrefix(d.Attached.Identifier, identity(e.s, d, ""))
	want.Index, want.Identifier = d.Attached.Index, d.Attached.Identifier
	ctx, cancel := context.WithTimeout(ctx, netlinkTimeout)
	defer cancel()
	err := e.NBD.Reconnect(ctx, want, func() error { return e.confirmLife(d) })
	switch {
	case errors.Is(err, nbd.ErrConnected): // an agent reconnected it and was killed before it recorded that
		err = e.confirmLife(d)
	case d.Attached.Silent && errors.Is(err, context.DeadlineExceeded): // the server is only slow
		delete(e.answered, d.Attached.Identifier)
		return nil
	}
	if err != nil {
		return err
	}
	delete(e.answered, d.Attached.Identifier)
	if e.net.Record.Reconnected == nil {
		e.net.Record.Reconnected = map[string]decide.Reconnection{}
	}
	e.net.Record.Reconnected[d.Name()] = decide.Reconnection{BootID: e.net.BootID, From: from, To: e.net.Lives[d.Server].ID}
	return e.save()
}

// ErrReplaced is returned when another life of a server answers than the one that the
// decision was about.
var ErrReplaced = errors.New("the server was replaced meanwhile")

// confirmLife returns nil while the server of a device is in the life of the decision, and
// still has everything written to the device. A successor that answers on the socket has
// recorded its own life before; then the error is ErrReplaced.
func (e networkExecutor) confirmLife(d decide.NetworkDevice) error {
	was, now := e.net.Lives[d.Server], e.currentLife(d.Server)
	if now.Problem != "" || now.ID != was.ID || !now.Running || !now.Held || !now.Has(d.Attached.Life) {
		return fmt.Errorf("%w: the life of the server of store %s was %s", ErrReplaced, d.Server, was.ID)
	}
	return nil
}

// currentLife reads the life of a server again. The lives that it inherits can become
// fewer until it serves.
func (e networkExecutor) currentLife(server string) decide.Life {
	return readLife(filepath.Join(e.Root, e.declaredServer(server).Directory))
}
