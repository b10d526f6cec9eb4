//go:build vm

package vm_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/pgstorage/pgstorage/internal/testing/long"
	"github.com/pgstorage/pgstorage/internal/testing/vm"
)

const (
	phaseDiskBytes = 128 << 20
	// phaseMemory suffices for an agent and an idle pool.
	phaseMemory = 1024
)

// phase boots a machine for one phase of test/vm/guest. Status is the file that an
// earlier one left, or "".
func phase(t *testing.T, binary, name, status string, disks []vm.Disk, env ...string) *vm.Machine {
	t.Helper()
	payload := map[string]string{"run": binary}
	if status != "" {
		payload["status.json"] = status
	}
	return boot(t, vm.Options{
		Payload: payload,
		Args:    []string{"-test.v", "-test.run=^TestPhase$", "-test.timeout=" + bootTime.String()},
		Env:     append(env, "PGSTORAGE_PHASE="+name),
		Disks:   disks, Memory: phaseMemory, Console: &tally{name: name, to: os.Stdout},
	})
}

// ends waits for a phase's end, and returns the status that it left.
func ends(t *testing.T, m *vm.Machine) string {
	t.Helper()
	result, err := m.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if result.ExitCode != 0 {
		t.Fatalf("the phase ended with exit code %d", result.ExitCode)
	}
	return filepath.Join(result.Artefacts, "status.json")
}

// phaseDisks are disks for /dev/disk/by-id/virtio-diskN, with files in a folder.
func phaseDisks(folder string, numbers ...int) []vm.Disk {
	var out []vm.Disk
	for _, n := range numbers {
		serial := fmt.Sprintf("disk%d", n)
		out = append(out, vm.Disk{Serial: serial, Path: filepath.Join(folder, serial), SizeBytes: phaseDiskBytes})
	}
	return out
}

// copied gives a case disks of its own.
func copied(t *testing.T, disks []vm.Disk) []vm.Disk {
	t.Helper()
	folder := t.TempDir()
	var out []vm.Disk
	for _, d := range disks {
		to := filepath.Join(folder, filepath.Base(d.Path))
		if text, err := exec.CommandContext(t.Context(), "cp", "--sparse=always", d.Path, to).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		d.Path = to
		out = append(out, d)
	}
	return out
}

// zeros makes a disk blank.
func zeros(t *testing.T, path string) {
	t.Helper()
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, phaseDiskBytes)); err != nil {
		t.Fatal(err)
	}
}

func digest(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // only read
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// A pool survives the boots of its node, whatever happened to its disks meanwhile, and is never
// created again.
func TestPoolIsImportedAfterReboot(t *testing.T) {
	t.Parallel()
	binary := guestBinary(t, "test/vm/guest")
	made := phaseDisks(t.TempDir(), 0, 1, 4, 5)
	status := ends(t, phase(t, binary, "make", "", made))
	disks, twins, spares := made[:2:2], made[2:], phaseDisks(t.TempDir(), 2, 3)
	exported := copied(t, disks)
	t.Run("the pool is there", func(t *testing.T) {
		ends(t, phase(t, binary, "return", status, exported, "PGSTORAGE_EXPORT=1"))
	})
	for _, tc := range []struct {
		name, phase string
		disks       []vm.Disk
	}{
		{"exported, and the disks have other names in the kernel", "return", []vm.Disk{spares[0], exported[1], spares[1], exported[0]}},
		{"a disk of the mirror is gone", "degraded", append(disks[:1:1], spares...)},
		{"all disks are gone", "lost", spares},
		{"two pools have its name", "twins", append(disks, twins...)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, s := range spares {
				zeros(t, s.Path)
			}
			blank := digest(t, spares[0].Path)
			ends(t, phase(t, binary, tc.phase, status, copiedUnless(t, tc.disks, spares)))
			for _, s := range spares {
				if digest(t, s.Path) != blank {
					t.Errorf("the spare disk %s was written", s.Serial)
				}
			}
		})
	}
}

// copiedUnless copies the disks of a case, but for those that must stay as they are.
func copiedUnless(t *testing.T, disks, kept []vm.Disk) []vm.Disk {
	t.Helper()
	out := copied(t, disks)
	for i := range out {
		for _, k := range kept {
			if out[i].Serial == k.Serial {
				out[i] = k
			}
		}
	}
	return out
}

// The power goes while a pool is created. The next agent converges, or reports what to do. It
// does not touch the disk beside it either way.
func TestPoolConvergesAfterAPowerCutInItsCreation(t *testing.T) {
	long.Skip(t, "make test-vm")
	t.Parallel()
	binary := guestBinary(t, "test/vm/guest")
	for _, at := range []string{"zpool create", "partitions"} {
		t.Run(at, func(t *testing.T) {
			disks := phaseDisks(t.TempDir(), 0, 1, 2)
			for i := range disks[:2] {
				disks[i].Volatile = true
			}
			beside := disks[2].Path
			zeros(t, beside)
			before := digest(t, beside)
			m := phase(t, binary, "cut", "", disks, "PGSTORAGE_CUT="+at)
			if _, err := m.WaitFor(t.Context(), "phase: cut"); err != nil {
				t.Fatal(err)
			}
			if err := m.PowerCut(); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Wait(t.Context()); !errors.Is(err, vm.ErrPowerCut) {
				t.Fatal(err)
			}
			ends(t, phase(t, binary, "after a cut", "", disks))
			if digest(t, beside) != before {
				t.Error("the disk beside the pool's was written")
			}
		})
	}
}
