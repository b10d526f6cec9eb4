package nbd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// resendEvery is how often the kernel looks at the requests of a device without a Timeout. It
// then resends what went to a connection that was replaced meanwhile. With each look it logs a
// line for each request that waits.
const resendEvery = 10 * time.Second

const (
	// greetPatience with a server that may have a client for the export already, and lets
	// others wait for its end.
	greetPatience = 10 * time.Second
	// answerPatience with the device then: one that is connected answers.
	answerPatience = 5 * time.Second
)

// Reconnect gives the attached device new connections in place of dead ones, also while it is
// in use. Waiting requests continue, and the kernel resends those that were under way. The size
// stays as it is. Reconnect calls confirm once the server has answered, right before it changes
// the device. Confirm returns nil if that server has everything written to the device: by then
// it may be another server. An error of it ends the call.
//
// A device whose connections live stays as it is. Where the server takes one client at a time,
// the error is ErrConnected. Otherwise the kernel drops the new connections without a report,
// so Reconnect succeeds.
//
// Errors: ErrInvalid; ErrNotLoaded; ErrNotAttached; ErrConnected; ErrInUse: it has another
// identifier; ErrNoSuchExport; ErrUnfit; ErrMismatch; that of confirm; the end of ctx.
// ErrMismatch: the export has become smaller than the device, or what is read back differs.
func (c *Client) Reconnect(ctx context.Context, d Device, confirm func() error) error {
	d = d.withDefaults()
	if err := d.validate(); err != nil {
		return err
	}
	before, err := c.attachedState(ctx, d)
	if err != nil {
		return err
	}
	if err := c.reconfigure(ctx, d, before, confirm); err != nil {
		return fmt.Errorf("reconnect %s: %w", Path(d.Index), err)
	}
	after, err := c.attachedState(ctx, d)
	if err == nil && *after != *before {
		err = fmt.Errorf("%w: %s is %+v and was %+v", ErrMismatch, Path(d.Index), *after, *before)
	}
	return err
}

func (c *Client) attachedState(ctx context.Context, d Device) (*State, error) {
	s, err := c.state(ctx, d.Index)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, fmt.Errorf("%w: %s", ErrNotAttached, Path(d.Index))
	case s.Identifier != d.Identifier:
		return nil, inUse(s, d.Identifier)
	}
	return s, nil
}

func (c *Client) reconfigure(ctx context.Context, d Device, now *State, confirm func() error) error {
	all, o, err := c.greet(ctx, d)
	if err != nil {
		return err
	}
	if o.Bytes < now.Bytes {
		all.close()
		return fmt.Errorf("%w: export %s has %d bytes and had %d", ErrMismatch, d.Export, o.Bytes, now.Bytes)
	}
	if err := confirm(); err != nil {
		all.close()
		return err
	}
	if err := c.kernel.reconfigure(ctx, d, all); err != nil {
		return err
	}
	return c.hasten(d) // the kernel has set it back
}

func (c *Client) greet(ctx context.Context, d Device) (sockets, offer, error) {
	short, cancel := context.WithTimeout(ctx, c.greetPatience)
	defer cancel()
	all, o, err := connect(short, d)
	if err == nil || short.Err() == nil || ctx.Err() != nil {
		return all, o, err
	}
	ask, stop := context.WithTimeout(ctx, answerPatience)
	defer stop()
	if c.Probe(ask, d.Index) == nil {
		err = errors.Join(ErrConnected, err)
	}
	return all, o, err
}

// hasten the kernel's look at the requests of a device without a Timeout, which is
// every 30 s otherwise. It counts for requests from then on.
func (c *Client) hasten(d Device) error {
	if d.Timeout != 0 {
		return nil
	}
	path := filepath.Join("/", c.root, "sys/block", kernelName(d.Index), "queue/io_timeout")
	text := strconv.FormatInt(resendEvery.Milliseconds(), 10)
	// Without O_CREATE: it is there since Linux 4.20.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
