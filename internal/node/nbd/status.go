package nbd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// State of an attached device.
type State struct {
	Index int
	// Bytes is the size that the kernel has of it.
	Bytes uint64
	// BlockSize in bytes, logical.
	BlockSize uint32
	// PID is the process that attached it, which may have ended, in the node's own
	// numbers; an ioctl client's lives as long as the device.
	PID int
	// Identifier that it was attached with; empty if another program gave it none.
	Identifier string
}

// sectorBytes is the unit of /sys/block/*/size, whatever the device's blocks.
const sectorBytes = 512

// Status of the attached devices, by index. It asks only the kernel: a device whose
// server has died is attached until it is disconnected, see Probe. Errors:
// ErrNotLoaded.
func (c *Client) Status(ctx context.Context) ([]State, error) {
	configured, err := c.kernel.configured(ctx)
	if err != nil {
		return nil, fmt.Errorf("status of NBD devices: %w", err)
	}
	slices.Sort(configured)
	var all []State
	for _, index := range configured {
		s, err := readState(os.DirFS(filepath.Join("/", c.root, "sys/block", kernelName(index))), index)
		switch {
		case vanished(err): // merely open, or just disconnected
		case err != nil:
			return nil, fmt.Errorf("status of %s: %w", Path(index), err)
		default:
			all = append(all, s)
		}
	}
	return all, nil
}

// vanished says that the kernel has removed a file: before it was opened, or while it was read.
func vanished(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV)
}

// state of one device, nil if it is not attached.
func (c *Client) state(ctx context.Context, index int) (*State, error) {
	all, err := c.Status(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(s State) bool { return s.Index == index })
	if i < 0 {
		return nil, nil
	}
	return &all[i], nil
}

// readState from the files of a device in /sys/block. The file pid is there while it is
// attached, backend if it then has an identifier.
func readState(files fs.FS, index int) (State, error) {
	s := State{Index: index}
	pid, err := readNumber(files, "pid", 32)
	if err != nil {
		return s, err
	}
	sectors, err := readNumber(files, "size", 54)
	if err != nil {
		return s, err
	}
	block, err := readNumber(files, "queue/logical_block_size", 32)
	if err != nil {
		return s, err
	}
	s.PID, s.Bytes, s.BlockSize = int(pid), sectors*sectorBytes, uint32(block) //nolint:gosec // G115: 32 bits
	backend, err := fs.ReadFile(files, "backend")
	if errors.Is(err, fs.ErrNotExist) {
		// The kernel removes pid first, and then backend.
		_, err = fs.Stat(files, "pid")
	}
	if err != nil {
		return s, err
	}
	s.Identifier = strings.TrimSpace(string(backend))
	return s, nil
}

func readNumber(files fs.FS, path string, bits int) (uint64, error) {
	text, err := fs.ReadFile(files, path)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, bits)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return n, nil
}
