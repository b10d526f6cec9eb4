package tmpfs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// timeout bounds a visit, which takes milliseconds.
const timeout = 30 * time.Second

// Client mounts and reads volumes in the memory of a node.
type Client struct {
	// namespace is the file of the mount namespace of the node's process 1.
	namespace string
	// turn has a token while no visit is under way.
	turn chan struct{}
}

// New returns a client of the node whose / is at root.
func New(root string) *Client {
	c := &Client{namespace: filepath.Join("/", root, "proc/1/ns/mnt"), turn: make(chan struct{}, 1)}
	c.turn <- struct{}{}
	return c
}

// List returns the volumes of a profile that are mounted.
func (c *Client) List(ctx context.Context, profile string) (Seen, error) {
	if !element(profile) {
		return Seen{}, fmt.Errorf("profile %q must be one element of a path", profile)
	}
	found, err := visit(ctx, c, func() (Seen, error) { return list(profile) })
	if err != nil {
		return Seen{}, fmt.Errorf("read volumes in memory: %w", err)
	}
	return found, nil
}

// Mount mounts volumes, each with a folder of a new incarnation. It also tries the others after
// one that fails. A place at which something is mounted is an error.
func (c *Client) Mount(ctx context.Context, volumes ...Volume) error {
	return each(ctx, c, volumes, func(v Volume) error {
		if err := mountVolume(v); err != nil {
			return fmt.Errorf("mount volume %s: %w", v.Name, err)
		}
		return nil
	})
}

// Unmount unmounts the volumes at places, and all that is in them is gone. It never forces: if
// something uses a volume, the error is ErrInUse. It also tries the others after one that fails.
// A place at which nothing is mounted does not count as an error.
func (c *Client) Unmount(ctx context.Context, places ...Place) error {
	return each(ctx, c, places, func(p Place) error {
		if err := unmount(p); err != nil {
			return fmt.Errorf("unmount volume %s: %w", p.Name, err)
		}
		return nil
	})
}

// each changes all items in one visit, and joins the errors.
func each[T any](ctx context.Context, c *Client, items []T, change func(T) error) error {
	_, err := visit(ctx, c, func() (struct{}, error) {
		var failed []error
		for _, item := range items {
			failed = append(failed, change(item))
		}
		return struct{}{}, errors.Join(failed...)
	})
	return err
}

// visit calls do in the mount namespace of the node. It ends with ctx for the caller only: what
// the kernel has begun continues, and the next visit waits for it.
func visit[T any](ctx context.Context, c *Client, do func() (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	type answer struct {
		value T
		err   error
	}
	var none T
	select {
	case <-c.turn:
	case <-ctx.Done():
		return none, fmt.Errorf("an earlier visit to the node has not ended: %w", context.Cause(ctx))
	}
	ended := make(chan answer, 1)
	go func() {
		defer func() { c.turn <- struct{}{} }()
		var a answer
		if a.err = enter(c.namespace); a.err == nil {
			a.value, a.err = do()
		}
		ended <- a
	}()
	select {
	case a := <-ended:
		return a.value, a.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}
