package exports

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"syscall"
)

const (
	// folder of the exports; ZeroFS makes it when it starts with NBD.
	folder = ".nbd"

	folderMode = 0o700
	exportMode = 0o600

	// BlockBytes that the size of an export is a multiple of.
	BlockBytes = 4096
	// MaxBytes of an export: the largest file offset, in whole blocks.
	MaxBytes = 1<<63 - BlockBytes
)

// Errors to compare with errors.Is.
var (
	// ErrInvalid: an argument was refused before anything was done.
	ErrInvalid = errors.New("invalid")
	// ErrNoSuchExport: there is no export of that name.
	ErrNoSuchExport = errors.New("no such export")
	// ErrNoOwner: no owner left a mark in the file system.
	ErrNoOwner = errors.New("no owner left a mark")
	// ErrExists: there is an export of that name and of another size.
	ErrExists = errors.New("exists already")
	// ErrShrink: the export is larger than asked for.
	ErrShrink = errors.New("cannot shrink")
	// ErrNotAFile: the name is of a folder, link or other thing that no server exports.
	ErrNotAFile = errors.New("not a file")
)

// Client of one ZeroFS process. Each call is on a connection of its own, and ends with
// its context. It may be used by several goroutines at once.
type Client struct {
	// Socket is the path of the 9P server's Unix socket.
	Socket string
}

// Export of an NBD server.
type Export struct {
	// Name that an NBD client asks for.
	Name string
	// Bytes is its size. An attached device keeps the size that it was attached with.
	Bytes uint64
}

// name of an export: ZeroFS takes any file name; these need no quoting anywhere.
var name = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9._-]{0,126}[a-zA-Z0-9])?$`)

// Exports in the order of the server; none if nothing was ever made.
func (c *Client) Exports(ctx context.Context) ([]Export, error) {
	var all []Export
	err := c.do(ctx, func(s *session, root fid) error {
		dir, err := s.walk(root, folder)
		if errors.Is(err, syscall.ENOENT) {
			return nil
		}
		if err != nil {
			return err
		}
		all, err = s.list(dir)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list NBD exports: %w", err)
	}
	return all, nil
}

// Create an export of a size, sparse and filled with zeroes, and flush it to the object
// store. Bytes is a multiple of BlockBytes up to MaxBytes. Create keeps an export of
// the same size, and completes one of size 0, which an interrupted Create leaves. It
// flushes either again. The name has 1 to 128 letters, digits and ._- between letters
// or digits.
//
// Errors: ErrInvalid; ErrExists, which names both sizes: Grow it, or choose another
// name; ErrNotAFile.
func (c *Client) Create(ctx context.Context, export string, bytes uint64) error {
	return c.change(ctx, "create", export, bytes, func(s *session, root fid) error {
		file, has, err := s.openOrCreate(root, export)
		switch {
		case err != nil:
			return err
		case has == 0:
			err = s.resize(file, bytes)
		case has != bytes:
			return fmt.Errorf("%w: it has %d bytes, not %d", ErrExists, has, bytes)
		}
		return s.flushed(file, err)
	})
}

// Grow an export to a size, the new part sparse, and flush it to the object store.
// Bytes is as for Create. One of that size is only flushed again.
//
// An attached device keeps its size until it is attached again.
//
// Errors: ErrInvalid; ErrNoSuchExport; ErrShrink, which names both sizes; ErrNotAFile.
func (c *Client) Grow(ctx context.Context, export string, bytes uint64) error {
	return c.change(ctx, "grow", export, bytes, func(s *session, root fid) error {
		file, err := s.walk(root, folder, export)
		if errors.Is(err, syscall.ENOENT) {
			return fmt.Errorf("%w; create it", ErrNoSuchExport)
		}
		if err != nil {
			return err
		}
		has, err := s.size(file)
		switch {
		case err != nil:
			return err
		case has > bytes:
			return fmt.Errorf("%w: it has %d bytes, not %d; what lies beyond would be lost", ErrShrink, has, bytes)
		case has < bytes:
			err = s.resize(file, bytes)
		}
		return s.flushed(file, err)
	})
}

func (c *Client) change(ctx context.Context, verb, export string, bytes uint64, act func(s *session, root fid) error) error {
	switch {
	case !name.MatchString(export):
		return fmt.Errorf("%w: export %q must be 1 to 128 letters, digits and ._- between letters or digits", ErrInvalid, export)
	case bytes == 0 || bytes%BlockBytes != 0 || bytes > MaxBytes:
		return fmt.Errorf("%w: %d bytes for export %s must be a multiple of %d up to %d",
			ErrInvalid, bytes, export, BlockBytes, uint64(MaxBytes))
	}
	if err := c.do(ctx, act); err != nil {
		return fmt.Errorf("%s NBD export %s: %w", verb, export, err)
	}
	return nil
}

// do something with the server's root folder.
func (c *Client) do(ctx context.Context, act func(s *session, root fid) error) error {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", c.Socket)
	if err != nil {
		return fmt.Errorf("connect to the 9P server: %w", err)
	}
	defer conn.Close() //nolint:errcheck // every change was answered
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	err = within(conn, act)
	if err != nil && ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	return err
}

func within(conn net.Conn, act func(s *session, root fid) error) error {
	s, root, err := open(conn)
	if err != nil {
		return err
	}
	return act(s, root)
}
