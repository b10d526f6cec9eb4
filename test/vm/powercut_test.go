//go:build vm

package vm_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pgstorage/pgstorage/internal/testing/vm"
)

// What was flushed survives a power cut. A disk with a cache loses what was not, and only such
// a disk does: that is why the tests need it.
func TestFlushedBlocksSurviveAPowerCut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(serial string) string { return filepath.Join(dir, serial) }
	disks := []vm.Disk{
		{Serial: "files", Path: path("files"), SizeBytes: 128 << 20, Volatile: true},
		{Serial: "cached", Path: path("cached"), SizeBytes: 16 << 20, Volatile: true},
		{Serial: "plain", Path: path("plain"), SizeBytes: 16 << 20},
	}
	m := boot(t, vm.Options{Disks: disks, Payload: script(t,
		"cd /dev/disk/by-id",
		"mkfs.ext4 -q virtio-files",
		"mkdir /files && mount virtio-files /files",
		"echo synced > /files/synced && sync /files/synced && sync /files",
		"echo lost > /files/lost",
		"block() { printf '%4096s' '' | tr ' ' $1; }",
		"block F | dd of=virtio-cached bs=4096 iflag=fullblock oflag=direct conv=fsync,notrunc",
		"for disk in cached plain; do",
		"    block U | dd of=virtio-$disk bs=4096 seek=1 iflag=fullblock oflag=direct conv=notrunc",
		"done",
		"echo written",
		"sleep 1000",
	)})
	if _, err := m.WaitFor(t.Context(), "written"); err != nil {
		t.Fatal(err)
	}
	if err := m.PowerCut(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Wait(t.Context()); !errors.Is(err, vm.ErrPowerCut) {
		t.Errorf("Wait returned %v", err)
	}
	wantBlock(t, path("cached"), 0, 'F')
	wantBlock(t, path("cached"), 1, 0)
	wantBlock(t, path("plain"), 1, 'U')
	wantFiles(t, disks[:1])
}

// wantBlock checks one block of 4 KiB of a disk's file.
func wantBlock(t *testing.T, path string, number int, want byte) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := content[number*4096 : (number+1)*4096]; !bytes.Equal(got, bytes.Repeat([]byte{want}, 4096)) {
		t.Errorf("%s: block %d begins with %q, want 4096 times %q", filepath.Base(path), number, got[:8], want)
	}
}

// wantFiles boots again and looks at the file system as its next user would.
func wantFiles(t *testing.T, disks []vm.Disk) {
	t.Helper()
	m := boot(t, vm.Options{Disks: disks, Payload: script(t,
		"mkdir /files && mount /dev/disk/by-id/virtio-files /files",
		"cp -r /files/. /artefacts",
	)})
	result, err := m.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if result.ExitCode != 0 {
		t.Fatalf("exit code %d", result.ExitCode)
	}
	synced, err := os.ReadFile(filepath.Join(result.Artefacts, "synced"))
	if err != nil || string(synced) != "synced\n" {
		t.Errorf("the synced file has %q, %v", synced, err)
	}
	if lost, err := os.ReadFile(filepath.Join(result.Artefacts, "lost")); err == nil && len(lost) > 0 {
		t.Errorf("the file that was not synced has %q: this disk does not lose anything", lost)
	}
}
