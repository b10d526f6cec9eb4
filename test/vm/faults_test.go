//go:build vm

package vm_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pgstorage/pgstorage/internal/testing/vm"
)

// Disks fail under a running pool and come back. The test inside the machine checks what the
// agent reports and does; this part takes turns with it.
func TestAgentReportsFailingDisks(t *testing.T) {
	t.Parallel()
	binary := guestBinary(t, "test/vm/guest")
	for _, tc := range []struct {
		name, phase string
		failing     int
		rates       []string
	}{
		{"a disk of a mirror fails writes", "errors", 1, []string{"error-pwrite-rate=100%"}},
		{"the only disk fails", "suspended", 0, []string{"error-rate=100%"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			disks := phaseDisks(t.TempDir(), 0, 1)
			trigger := filepath.Join(t.TempDir(), "fail")
			server, err := vm.Serve(t.Context(), vm.Export{
				Path: disks[tc.failing].Path, SizeBytes: phaseDiskBytes, Log: os.Stderr, Filters: []string{"error"},
				Parameters: append([]string{"error=EIO", "error-file=" + trigger}, tc.rates...),
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(server.Kill)
			disks[tc.failing] = vm.Disk{Serial: disks[tc.failing].Serial, NBD: server.Socket}
			m := phase(t, binary, tc.phase, "", disks)
			turn(t, m, "phase: fail", func() error { return os.WriteFile(trigger, nil, 0o600) })
			turn(t, m, "phase: heal", func() error { return os.Remove(trigger) })
			ends(t, m)
		})
	}
}

// turn does the host's part once the guest reports that it is ready.
func turn(t *testing.T, m *vm.Machine, line string, do func() error) {
	t.Helper()
	if _, err := m.WaitFor(t.Context(), line); err != nil {
		t.Fatal(err)
	}
	if err := do(); err != nil {
		t.Fatal(err)
	}
}
