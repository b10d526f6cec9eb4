package nbd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	// heldPatience: how long somebody who looks at a device, as udev does at a new one,
	// may keep it open.
	heldPatience = 5 * time.Second
	heldInterval = 100 * time.Millisecond
	// probeAgain is how long after a read that failed a device is asked once more.
	probeAgain = 500 * time.Millisecond
)

// Client of one node's NBD driver. It may be used by several goroutines at once, but
// one index is for one of them at a time.
type Client struct {
	root   string
	kernel kernel
	probes singleflight.Group
	read   func(path string) error
	// greetPatience is the constant, but for tests.
	greetPatience time.Duration
}

// New Client. Root is where the node's / is mounted, with its /dev, /proc and /sys, or
// empty for this process's own. It needs CAP_SYS_ADMIN in the initial user namespace;
// with a root also CAP_SYS_PTRACE, to find the node's network namespace, outside of
// which the driver does not answer.
func New(root string) *Client {
	return &Client{root: root, kernel: driver{root: root}, read: readDirect, greetPatience: greetPatience}
}

// Attach an export to /dev/nbdN and return that path. What the kernel made is read
// back. A device that is attached with the same identifier and block size, and that
// answers a Probe, is left as it is; if its export has grown since, State.Bytes is less.
//
// Errors: ErrInvalid; ErrNotLoaded; ErrInUse, which names both identifiers; ErrHeld;
// ErrDead: attached with the same identifier, but it fails to be read, so Disconnect
// it; ErrNoSuchExport; ErrUnfit; ErrMismatch; the end of ctx, after which the device
// may or may not be attached: call again.
func (c *Client) Attach(ctx context.Context, d Device) (string, error) {
	d = d.withDefaults()
	if err := d.validate(); err != nil {
		return "", err
	}
	path := Path(d.Index)
	if attached, err := c.attached(ctx, d); attached || err != nil {
		return path, err
	}
	o, err := c.connect(ctx, d)
	if err != nil {
		return path, fmt.Errorf("attach %s: %w", path, err)
	}
	if err := c.verify(ctx, d, o); err != nil {
		return path, err
	}
	return path, c.hasten(d)
}

// attached says whether d is there as it is to be.
func (c *Client) attached(ctx context.Context, d Device) (bool, error) {
	s, err := c.state(ctx, d.Index)
	if err != nil || s == nil {
		return false, err
	}
	if s.Identifier != d.Identifier {
		return false, inUse(s, d.Identifier)
	}
	if s.BlockSize != d.BlockSize {
		return false, fmt.Errorf("%w: %s has blocks of %d bytes, not %d; disconnect it first",
			ErrMismatch, Path(d.Index), s.BlockSize, d.BlockSize)
	}
	return true, c.Probe(ctx, d.Index)
}

func inUse(s *State, wanted string) error {
	if s.Identifier == "" {
		return fmt.Errorf("%w: %s was attached without an identifier, by process %d and not as %q",
			ErrInUse, Path(s.Index), s.PID, wanted)
	}
	return fmt.Errorf("%w: %s is attached as %q, not as %q", ErrInUse, Path(s.Index), s.Identifier, wanted)
}

// connect to the server and give the kernel the connections. The kernel refuses while
// somebody merely has the device open.
func (c *Client) connect(ctx context.Context, d Device) (offer, error) {
	var o offer
	var err, busy error
	patiently(ctx, func() bool {
		var all sockets
		if all, o, err = connect(ctx, d); err == nil {
			err = c.kernel.connect(ctx, d, o, all)
		}
		if errors.Is(err, syscall.EBUSY) {
			busy = err
			return false
		}
		return true
	})
	if err == nil || busy == nil {
		return o, err
	}
	if s, failed := c.state(ctx, d.Index); failed == nil && s != nil {
		return o, inUse(s, d.Identifier)
	}
	return o, fmt.Errorf("%w: close it: %w", ErrHeld, err)
}

// verify what was made, and take it back if it is not as it should be: nobody can use
// it yet.
func (c *Client) verify(ctx context.Context, d Device, o offer) error {
	s, err := c.state(ctx, d.Index)
	if err != nil {
		return err
	}
	want := State{Index: d.Index, Bytes: o.Bytes, BlockSize: d.BlockSize, Identifier: d.Identifier}
	if s != nil {
		want.PID = s.PID
	}
	if s == nil || *s != want {
		err := fmt.Errorf("%w: %s is %+v, not %+v (identifiers need Linux 5.14)", ErrMismatch, Path(d.Index), s, want)
		return errors.Join(err, c.kernel.disconnect(ctx, d.Index))
	}
	return nil
}

// Disconnect the device that is attached with an identifier; requests that wait fail
// with EIO. What is not attached is no error. Whatever uses the device must have let go
// of it before, if its data is to be kept: the pool exported, the file system unmounted.
// The kernel says good-bye to the server first, which may take up to the device's
// time-out if the server has stopped to read: end such a server before.
//
// Errors: ErrInvalid; ErrNotLoaded; ErrInUse: it has another identifier; ErrHeld: all
// of it fails, yet somebody still has it open, so its index is not free; the end of
// ctx.
func (c *Client) Disconnect(ctx context.Context, index int, identifier string) error {
	if err := errors.Join(validIndex(index), validIdentifier(identifier)); err != nil {
		return err
	}
	s, err := c.state(ctx, index)
	if err != nil || s == nil {
		return err
	}
	if s.Identifier != identifier {
		return inUse(s, identifier)
	}
	if err := c.kernel.disconnect(ctx, index); err != nil {
		return fmt.Errorf("disconnect %s: %w", Path(index), err)
	}
	patiently(ctx, func() bool {
		s, err = c.state(ctx, index)
		return err != nil || s == nil
	})
	if err == nil && s != nil {
		return fmt.Errorf("%w: %s: close it, or export its pool", ErrHeld, Path(index))
	}
	return err
}

// patiently tries until done, the end of ctx, or that of heldPatience.
func patiently(ctx context.Context, done func() bool) {
	ctx, cancel := context.WithTimeout(ctx, heldPatience)
	defer cancel()
	tick := time.NewTicker(heldInterval)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Probe reads the first block of a device from its server. ErrDead: it failed twice in a
// row, probeAgain apart, since a server may answer one read with an error; so does all
// else that the device is asked. The end of ctx: no answer yet, be the server stopped or
// slow; the request goes on to its own time-out, and a Probe meanwhile waits for the
// same one. Other errors are of opening the device.
//
// It tells what no file or message of the kernel does: a device whose connections are
// all dead looks attached. While requests of the device wait for ever, so does what
// Probe has begun, and this process can then not end: do not ask such a device.
func (c *Client) Probe(ctx context.Context, index int) error {
	if err := validIndex(index); err != nil {
		return err
	}
	path := Path(index)
	answer := c.probes.DoChan(path, func() (any, error) { return nil, c.readTwice(filepath.Join("/", c.root, path)) })
	select {
	case got := <-answer:
		if got.Err != nil {
			return fmt.Errorf("probe %s: %w", path, got.Err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("no answer yet from %s: %w", path, context.Cause(ctx))
	}
}

func (c *Client) readTwice(path string) error {
	err := c.read(path)
	if !errors.Is(err, ErrDead) {
		return err
	}
	<-time.After(probeAgain)
	return c.read(path)
}
