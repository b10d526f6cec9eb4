package blockdev

import (
	"context"
	"fmt"

	"github.com/pgstorage/pgstorage/internal/node/host"
)

// Wipe removes the signatures from exactly one device, which the user has named with
// wipe, and reads afterwards what is left. Partitions that nothing uses go with their
// table. ErrInUse where anything uses the device; ErrNotWiped where a signature is left.
// ErrReplaced where the device is not the one that was consented to; the zero Identity is
// any. In a dry run the device stays as it is, so that the end is ErrNotWiped unless it was
// clean.
func (c *Client) Wipe(ctx context.Context, device string, is Identity) (Signatures, error) {
	before, err := c.Blank(ctx, device)
	if err != nil {
		return Signatures{}, err
	}
	if is != (Identity{}) && before.Is != is {
		return before, fmt.Errorf("%w: %s is %s with serial number %q, and was %s with %q", ErrReplaced, device, before.Is.Kernel, before.Is.Serial, is.Kernel, is.Serial)
	}
	if before.InUse() {
		return before, fmt.Errorf("%w: %s: %s; release it before it is wiped", ErrInUse, device, before)
	}
	if _, err := c.Change(host.PermitWipe(ctx, device), "wipefs", "-a", device); err != nil {
		return before, err
	}
	// The kernel drops the partitions once udev has let go of the device.
	if _, err := c.Run(ctx, "udevadm", "settle", "--timeout=20"); err != nil {
		return before, err
	}
	after, err := c.Blank(ctx, device)
	if err != nil {
		return Signatures{}, err
	}
	if !after.Clean() {
		return after, fmt.Errorf("%w: %s: %s; overwrite the device by hand if nothing of it is needed",
			ErrNotWiped, device, after)
	}
	return after, nil
}
