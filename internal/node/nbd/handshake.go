package nbd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/Merovius/nbd"
)

// offer is what a server says of an export.
type offer struct {
	Bytes uint64
	Flags uint16
}

// Flags of a server. Source: the NBD protocol, "transmission flags", as in linux/nbd.h.
const (
	hasFlags     = 1 << 0
	readOnly     = 1 << 1
	sendFlush    = 1 << 2
	sendFUA      = 1 << 3
	sendTrim     = 1 << 5
	canMultiConn = 1 << 8

	// passedOn the kernel gets to know, if the server has them.
	passedOn = hasFlags | sendFlush | sendFUA | sendTrim | canMultiConn
)

// fit says what an export lacks for a device. A server without flush is refused: the
// kernel would take every write for durable.
func (o offer) fit(d Device) error {
	unfit := func(format string, args ...any) error {
		return fmt.Errorf("%w: export %s of %s: "+format, append([]any{ErrUnfit, d.Export, d.Socket}, args...)...)
	}
	switch {
	case o.Bytes == 0:
		return unfit("its size is 0")
	case o.Bytes%uint64(d.BlockSize) != 0:
		return unfit("its size of %d bytes is not a multiple of the block size %d", o.Bytes, d.BlockSize)
	case o.Flags&readOnly != 0:
		return unfit("it is read-only")
	case o.Flags&sendFlush == 0:
		return unfit("it cannot be flushed, so nothing written to it would be known to be durable")
	case d.Connections > 1 && o.Flags&canMultiConn == 0:
		return unfit("it takes one connection, not %d", d.Connections)
	}
	return nil
}

// sockets in transmission mode, to be given to the kernel.
type sockets []*os.File

func (s sockets) close() {
	for _, f := range s {
		_ = f.Close()
	}
}

// connect all connections of a device. The caller closes the sockets.
func connect(ctx context.Context, d Device) (sockets, offer, error) {
	var all sockets
	var first offer
	for i := range d.Connections {
		socket, o, err := connectOne(ctx, d)
		if err == nil {
			all = append(all, socket)
			err = o.fit(d)
		}
		if err == nil && i > 0 && o != first {
			err = fmt.Errorf("%w: export %s changed between two connections", ErrUnfit, d.Export)
		}
		if err != nil {
			all.close()
			return nil, offer{}, err
		}
		first = o
	}
	return all, first, nil
}

func connectOne(ctx context.Context, d Device) (*os.File, offer, error) {
	// The library's helper of a connection ends with its context.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", d.Socket)
	if err != nil {
		return nil, offer{}, fmt.Errorf("connect to the NBD server: %w", err)
	}
	defer conn.Close() //nolint:errcheck // the file below is a copy
	o, err := handshake(ctx, conn, d.Export)
	if err != nil {
		return nil, offer{}, fmt.Errorf("export %s of %s: %w", d.Export, d.Socket, err)
	}
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, offer{}, fmt.Errorf("%s: no Unix socket but %T", d.Socket, conn)
	}
	socket, err := unix.File()
	if err != nil {
		return nil, offer{}, err
	}
	return socket, o, nil
}

func handshake(ctx context.Context, conn net.Conn, export string) (offer, error) {
	client, err := nbd.ClientHandshake(ctx, conn)
	if err != nil {
		return offer{}, fmt.Errorf("NBD handshake: %w", err)
	}
	e, err := client.Go(export)
	switch {
	case err == nil:
		return offer{Bytes: e.Size, Flags: e.Flags}, nil
	case ctx.Err() != nil:
		return offer{}, fmt.Errorf("NBD handshake: %w", context.Cause(ctx))
	case strings.Contains(err.Error(), "ERR_UNKNOWN"): // the library's type is not exported
		return offer{}, errors.Join(ErrNoSuchExport, err)
	}
	return offer{}, fmt.Errorf("NBD handshake: %w", err)
}
