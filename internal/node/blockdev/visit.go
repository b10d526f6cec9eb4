package blockdev

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// DefaultPatience with a device that is opened and read. An NBD device answers no earlier than
// its server, and a disk that fails may not answer at all.
const DefaultPatience = 30 * time.Second

// visits of devices that are under way, by device. The value is true once the device is open.
type visits struct {
	mu      sync.Mutex
	devices map[string]bool
}

// begin a visit, unless an earlier one of the device is under way.
func (v *visits) begin(device string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, found := v.devices[device]; found {
		return false
	}
	if v.devices == nil {
		v.devices = map[string]bool{}
	}
	v.devices[device] = false
	return true
}

// opened records that the visitor has the device, exclusively.
func (v *visits) opened(device string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.devices[device] = true
}

func (v *visits) end(device string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.devices, device)
}

// holds reports whether a visit has the device open.
func (v *visits) holds(device string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.devices[device]
}

// InUse reports whether anything but this client uses a device, which it opens. Where the device
// does not answer, the error wraps context.DeadlineExceeded. A device that cannot be opened for
// another reason does not count as used.
func (c *Client) InUse(ctx context.Context, device string) (bool, error) {
	if c.visits.holds(device) {
		return false, nil // a read of this client waits, and no other program has the device
	}
	_, err := visit(ctx, c, device, func(Content) (struct{}, error) { return struct{}{}, nil })
	switch {
	case errors.Is(err, ErrInUse):
		return true, nil
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return false, err
	}
	return false, nil
}

// visit opens a device, calls do and closes the device, all within the patience of the client.
// The kernel interrupts neither an open nor a read, so one that does not end continues in its own
// goroutine. Its result is dropped: another device may have come to the path since. Until it
// ends, further visits of the device fail. Both errors wrap context.DeadlineExceeded.
func visit[T any](ctx context.Context, c *Client, device string, do func(Content) (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	if !c.visits.begin(device) {
		return none, fmt.Errorf("an earlier read of %s has not ended: %w", device, context.DeadlineExceeded)
	}
	patience := c.Patience
	if patience == 0 {
		patience = DefaultPatience
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer from %s within %s: %w", device, patience, context.DeadlineExceeded))
	defer cancel()
	ended := make(chan result, 1)
	go func() {
		value, err := open(c, device, do)
		c.visits.end(device)
		ended <- result{value, err}
	}()
	select {
	case r := <-ended:
		return r.value, r.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

func open[T any](c *Client, device string, do func(Content) (T, error)) (T, error) {
	in, err := c.Open(device)
	if err != nil {
		var none T
		return none, err
	}
	c.visits.opened(device)
	value, err := do(in)
	return value, errors.Join(err, in.Close())
}
