//go:build vm

package vm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/vm"
)

// A test can make a disk fail while the guest writes to it, and read the requests afterwards.
func TestServedDiskFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	trigger, stats := filepath.Join(dir, "fail"), filepath.Join(dir, "stats")
	server, err := vm.Serve(t.Context(), vm.Export{
		Path: filepath.Join(dir, "disk"), SizeBytes: 16 << 20, Log: os.Stderr,
		Filters:    []string{"stats", "error"},
		Parameters: []string{"statsfile=" + stats, "error=EIO", "error-pwrite-rate=100%", "error-file=" + trigger},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	m := boot(t, vm.Options{
		Disks: []vm.Disk{{Serial: "served", NBD: server.Socket}},
		Payload: script(t,
			"write() { dd if=/dev/zero of=/dev/disk/by-id/virtio-served bs=4096 count=1 oflag=direct conv=fsync,notrunc; }",
			"write",
			"echo written",
			"while write 2>/artefacts/errors; do :; done",
		),
	})
	if _, err := m.WaitFor(t.Context(), "written"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(trigger, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	result, err := m.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	server.Stop()
	wantText(t, filepath.Join(result.Artefacts, "errors"), "Input/output error")
	wantText(t, stats, "write:")
	wantText(t, stats, "flush:")
}

func wantText(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || !strings.Contains(string(got), want) {
		t.Errorf("%s has %q, %v; want %q in it", filepath.Base(path), got, err, want)
	}
}

// The test ends a machine that hangs, and the error says why.
func TestHangingMachineIsEnded(t *testing.T) {
	t.Parallel()
	m := boot(t, vm.Options{Payload: script(t, "sleep 1000"), Timeout: 5 * time.Second})
	if _, err := m.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "its time was over") {
		t.Errorf("Wait returned %v", err)
	}
	if _, err := m.WaitFor(t.Context(), "anything"); err == nil {
		t.Error("WaitFor found something")
	}
}
