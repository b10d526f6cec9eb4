//go:build linux

package vm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Disk is /dev/disk/by-id/virtio-<Serial> in the guest. Behind it is a file, or a
// server on a Unix socket.
type Disk struct {
	// Serial has at most 20 characters.
	Serial string
	// Path of an image; made, without content, of SizeBytes where there is none.
	Path      string
	SizeBytes int64
	// Volatile has nbdkit keep in memory of its own what the guest has not flushed,
	// so that PowerCut loses it.
	Volatile bool
	// NBD is the Unix socket of a server that serves the disk instead, such as
	// Serve starts: with delays, errors, a log or statistics. It is the caller's:
	// PowerCut leaves it alone.
	NBD string
	// SectorBytes is what the disk says its sectors have; 512 without it.
	SectorBytes int
}

// prepareDisks makes what is not there and starts the servers of volatile disks.
func (m *Machine) prepareDisks(ctx context.Context) ([]Disk, error) {
	disks := make([]Disk, 0, len(m.options.Disks))
	for _, disk := range m.options.Disks {
		prepared, err := m.prepareDisk(ctx, disk)
		if err != nil {
			return nil, fmt.Errorf("disk %q: %w", disk.Serial, err)
		}
		disks = append(disks, prepared)
	}
	return disks, nil
}

func (m *Machine) prepareDisk(ctx context.Context, disk Disk) (Disk, error) {
	if disk.Serial == "" || len(disk.Serial) > 20 {
		return disk, errors.New("a serial has 1 to 20 characters")
	}
	if disk.NBD != "" {
		return disk, nil
	}
	if err := makeDisk(disk.Path, disk.SizeBytes); err != nil || !disk.Volatile {
		return disk, err
	}
	server, err := Serve(ctx, volatile(disk.Path, m.console))
	if err != nil {
		return disk, err
	}
	m.servers = append(m.servers, server)
	disk.NBD = server.Socket
	return disk, nil
}

// makeDisk makes a sparse file, and leaves one alone that is there: disks outlive
// machines.
func makeDisk(path string, size int64) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if size <= 0 {
		return errors.Join(fmt.Errorf("%s is not there and has no size", path), file.Close(), os.Remove(path))
	}
	return errors.Join(file.Truncate(size), file.Close())
}

// drive is the backend of a disk, in QEMU's words. QEMU passes flushes on, and bypasses the
// host's page cache where the file system allows it.
func (d Disk) drive() string {
	if d.NBD != "" {
		return "driver=nbd,server.type=unix,server.path=" + escape(d.NBD) + ",discard=unmap,cache=writeback"
	}
	cache := "writeback"
	if direct(d.Path) {
		cache = "none"
	}
	return "format=raw,file=" + escape(d.Path) + ",discard=unmap,cache=" + cache
}

// direct reports whether a file can be written past the page cache.
func direct(path string) bool {
	file, err := os.OpenFile(path, os.O_RDWR|syscall.O_DIRECT, 0)
	if err != nil {
		return false
	}
	return file.Close() == nil
}

// escape doubles commas, which separate QEMU's options.
func escape(value string) string { return strings.ReplaceAll(value, ",", ",,") }
