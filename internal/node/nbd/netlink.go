package nbd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"
)

// Of linux/nbd-netlink.h.
const (
	familyName = "nbd"

	cmdConnect     = 1
	cmdDisconnect  = 2
	cmdReconfigure = 3
	cmdStatus      = 5

	attrIndex           = 1
	attrSizeBytes       = 2
	attrBlockSizeBytes  = 3
	attrTimeout         = 4
	attrServerFlags     = 5
	attrSockets         = 7
	attrDeadConnTimeout = 8
	attrDeviceList      = 9
	attrBackend         = 10

	attrSocketItem = 1
	attrSocketFD   = 1

	attrDeviceItem      = 1
	attrDeviceIndex     = 1
	attrDeviceConnected = 2
)

// kernel is the driver as netlink shows it; tests have their own.
type kernel interface {
	// connect the sockets, which it closes whenever it ends.
	connect(ctx context.Context, d Device, o offer, s sockets) error
	// reconfigure what is attached to have these sockets in place of dead ones, and close
	// them whenever it ends. What has no dead one drops them without an error.
	reconfigure(ctx context.Context, d Device, s sockets) error
	// disconnect disconnects the device of an index, and succeeds if there is none.
	disconnect(ctx context.Context, index int) error
	// configured are the indices that have a configuration: attached devices, and those that a
	// process only has open.
	configured(ctx context.Context) ([]int, error)
}

// driver talks to the kernel, on a new connection each time. Calls are rare, and the module may
// be loaded at any time, each time under another number.
type driver struct {
	// root of the node, or empty for this process's. The driver answers in the initial
	// network namespace alone, which is where process 1 of the node is.
	root string
}

func (k driver) connect(ctx context.Context, d Device, o offer, s sockets) error {
	body, err := connectMessage(d, o, s)
	if err != nil {
		s.close()
		return err
	}
	return bounded(ctx, func() error {
		defer s.close()
		// It answers with the index, so the request needs no acknowledgement.
		_, err := k.execute(cmdConnect, netlink.Request, body)
		return err
	})
}

func (k driver) reconfigure(ctx context.Context, d Device, s sockets) error {
	body, err := reconfigureMessage(d, s)
	if err != nil {
		s.close()
		return err
	}
	return bounded(ctx, func() error {
		defer s.close()
		_, err := k.execute(cmdReconfigure, netlink.Request|netlink.Acknowledge, body)
		return err
	})
}

func (k driver) disconnect(ctx context.Context, index int) error {
	body, err := indexMessage(uint32(index)) //nolint:gosec // G115: at most MaxIndex
	if err != nil {
		return err
	}
	return bounded(ctx, func() error {
		_, err := k.execute(cmdDisconnect, netlink.Request|netlink.Acknowledge, body)
		return err
	})
}

func (k driver) configured(ctx context.Context) ([]int, error) {
	body, err := indexMessage(^uint32(0)) // all
	if err != nil {
		return nil, err
	}
	var answers []genetlink.Message
	err = bounded(ctx, func() error {
		a, err := k.execute(cmdStatus, netlink.Request, body)
		answers = a
		return err
	})
	if err != nil {
		return nil, err
	}
	return parseStatus(answers)
}

func (k driver) execute(command uint8, flags netlink.HeaderFlags, body []byte) ([]genetlink.Message, error) {
	conn, err := k.dial()
	if err != nil {
		return nil, err
	}
	defer conn.Close() //nolint:errcheck // nothing is buffered
	family, err := conn.GetFamily(familyName)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w; run modprobe nbd on the node", ErrNotLoaded)
	}
	if err != nil {
		return nil, err
	}
	message := genetlink.Message{Header: genetlink.Header{Command: command, Version: family.Version}, Data: body}
	return conn.Execute(message, family.ID, flags)
}

func (k driver) dial() (*genetlink.Conn, error) {
	if k.root == "" {
		return genetlink.Dial(nil)
	}
	space, err := os.Open(filepath.Join(k.root, "proc/1/ns/net"))
	if err != nil {
		return nil, fmt.Errorf("network namespace of the node: %w", err)
	}
	defer space.Close() //nolint:errcheck // read-only
	return genetlink.Dial(&netlink.Config{NetNS: int(space.Fd())})
}

// bounded runs a call that ends with ctx for the caller only. The driver works inside
// the system call that writes the request, which no deadline ends.
func bounded(ctx context.Context, call func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- call() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func connectMessage(d Device, o offer, s sockets) ([]byte, error) {
	e := netlink.NewAttributeEncoder()
	e.Uint64(attrSizeBytes, o.Bytes)
	e.Uint64(attrBlockSizeBytes, uint64(d.BlockSize))
	e.Uint64(attrServerFlags, uint64(o.Flags&passedOn))
	return finish(e, d, s)
}

// reconfigureMessage has neither size nor flags: those of a device in use stay.
func reconfigureMessage(d Device, s sockets) ([]byte, error) {
	return finish(netlink.NewAttributeEncoder(), d, s)
}

// finish a message with what connect and reconfigure have in common.
func finish(e *netlink.AttributeEncoder, d Device, s sockets) ([]byte, error) {
	e.Uint32(attrIndex, uint32(d.Index)) //nolint:gosec // G115: at most MaxIndex
	e.Uint64(attrTimeout, seconds(d.Timeout))
	e.Uint64(attrDeadConnTimeout, seconds(d.DeadConnTimeout))
	e.String(attrBackend, d.Identifier)
	e.Nested(attrSockets, func(list *netlink.AttributeEncoder) error {
		for _, f := range s {
			list.Nested(attrSocketItem, func(item *netlink.AttributeEncoder) error {
				item.Uint32(attrSocketFD, uint32(f.Fd())) //nolint:gosec // G115: a descriptor
				return nil
			})
		}
		return nil
	})
	return e.Encode()
}

func seconds(t time.Duration) uint64 { return uint64(t / time.Second) } //nolint:gosec // G115: validated

func indexMessage(index uint32) ([]byte, error) {
	e := netlink.NewAttributeEncoder()
	e.Uint32(attrIndex, index)
	return e.Encode()
}

func parseStatus(answers []genetlink.Message) ([]int, error) {
	var all []int
	for _, m := range answers {
		d, err := netlink.NewAttributeDecoder(m.Data)
		if err != nil {
			return nil, err
		}
		for d.Next() {
			if d.Type() == attrDeviceList {
				d.Nested(func(list *netlink.AttributeDecoder) error { return parseDevices(list, &all) })
			}
		}
		if err := d.Err(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func parseDevices(list *netlink.AttributeDecoder, to *[]int) error {
	for list.Next() {
		if list.Type() != attrDeviceItem {
			continue
		}
		list.Nested(func(item *netlink.AttributeDecoder) error {
			index, connected := -1, false
			for item.Next() {
				switch item.Type() {
				case attrDeviceIndex:
					index = int(item.Uint32())
				case attrDeviceConnected:
					connected = item.Uint8() != 0
				}
			}
			if connected && index >= 0 {
				*to = append(*to, index)
			}
			return nil
		})
	}
	return nil
}
