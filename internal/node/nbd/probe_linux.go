package nbd

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// probeBytes is the largest block that a device may have.
const probeBytes = 4096

// readDirect reads the first block past the kernel's cache; ErrDead if that fails.
func readDirect(path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		return err
	}
	// A page of its own, since direct reads need memory that is aligned as blocks are.
	page, err := unix.Mmap(-1, 0, probeBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	if _, err = f.ReadAt(page, 0); err != nil {
		err = fmt.Errorf("%w: %w", ErrDead, err)
	}
	return errors.Join(err, unix.Munmap(page), f.Close())
}
