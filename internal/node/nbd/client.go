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
	// heldPatience is how long another process that looks at a device, as udev does at a new
	// one, may keep it open.
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

// New Client. Root is where the node's / is mounted, with its /dev, /proc and /sys, or empty
// for this process's own. It needs CAP_SYS_ADMIN in the initial user namespace. With a root it
// also needs CAP_SYS_PTRACE, to find the node's network namespace: the driver answers only
// there.
func New(root string) *Client {
	return &Client{root: root, kernel: driver{root: root}, read: readDirect, greetPatience: greetPatience}
}

// Attach attaches an export to /dev/nbdN and returns that path. It reads back what the kernel
// created. It does not change a device that is attached with the same identifier and block
// size, and that answers a Probe. If its export has grown since, State.Bytes is less.
//
// Errors: ErrInvalid; ErrNotLoaded; ErrInUse, which names both identifiers; ErrHeld; ErrDead;
// ErrNoSuchExport; ErrUnfit; ErrMismatch; the end of ctx. ErrDead is a device with the same
// identifier whose reads fail: Disconnect it. After the end of ctx the device may or may not be
// attached: call Attach again.
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

// connect connects to the server and gives the kernel the connections. The kernel refuses while
// another process has the device open.
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

// verify reads back the new device, and disconnects it if it is not as requested: no process
// uses it yet.
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

// Disconnect disconnects the device that is attached with an identifier; waiting requests fail
// with EIO. It succeeds for a device that is not attached. To keep the data, release the device
// before: export its pool, or unmount its file system. The kernel first ends the connection
// with the server. That may take up to the device's time-out if the server has stopped reading:
// end such a server before.
//
// Errors: ErrInvalid; ErrNotLoaded; ErrInUse: it has another identifier; ErrHeld; the end of
// ctx. With ErrHeld, all requests to the device fail, but another process still has it open, so
// its index is not free.
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

// Probe reads the first block of a device from its server. It returns ErrDead if the read
// failed twice in a row, probeAgain apart, since a server may answer one read with an error.
// All other requests to such a device fail too. At the end of ctx there is no answer yet,
// because the server is stopped or slow. The request continues to its own time-out, and a Probe
// meanwhile waits for the same one. Other errors are of opening the device.
//
// No file or message of the kernel shows this: a device whose connections are all dead looks
// attached. While requests of the device wait indefinitely, the read of a Probe waits too, and
// this process then cannot end. Do not probe such a device.
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
