//go:build e2eceph

package e2eceph

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// remaining are the bytes of a failed disk that can be read still: the kernel has no limit of 0.
const remaining = 4096

// loopDevice is the disk of a node.
type loopDevice string

func disk(t *testing.T, name string) loopDevice {
	t.Helper()
	return loopDevice(node(t, "device", name))
}

// fails from here on: every read and write beyond the first 4 KiB is an I/O error. The device
// stays, and with it all that has it open, as with a disk that breaks.
func (d loopDevice) fails(t *testing.T) {
	t.Helper()
	d.limit(t, remaining)
}

// works again, with the data that it had.
func (d loopDevice) works(t *testing.T) {
	t.Helper()
	d.limit(t, 0)
}

func (d loopDevice) limit(t *testing.T, bytes uint64) {
	t.Helper()
	file, err := os.OpenFile(string(d), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // nothing was written
	info, err := unix.IoctlLoopGetStatus64(int(file.Fd()))
	if err != nil {
		t.Fatal(d, err)
	}
	info.Sizelimit = bytes
	if err := unix.IoctlLoopSetStatus64(int(file.Fd()), info); err != nil {
		t.Fatal(d, err)
	}
}
