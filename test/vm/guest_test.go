//go:build vm

package vm_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/testing/vm"
)

// children are parts of other tests, which start them with a job.
const children = "^(TestPhase|TestCrashChild|TestServerChild|TestNetworkCrashChild|TestNBDServer)$"

// network are the tests of network devices. They have a machine of their own, because two
// machines finish sooner than one.
const network = "^(TestNBD|TestNetwork)"

// TestGuest runs the tests of test/vm/guest in one machine with blank disks.
// PGSTORAGE_VM_RUN chooses among all of them as -run does.
func TestGuest(t *testing.T) {
	t.Parallel()
	if pattern := os.Getenv("PGSTORAGE_VM_RUN"); pattern != "" {
		guest(t, "guest", "-test.run="+pattern, "-test.skip="+children)
		return
	}
	guest(t, "disks", "-test.skip="+children+"|"+network)
}

// TestNetworkGuest runs the tests of network devices in a machine of their own.
func TestNetworkGuest(t *testing.T) {
	t.Parallel()
	if os.Getenv("PGSTORAGE_VM_RUN") != "" {
		t.Skip("PGSTORAGE_VM_RUN is set, and TestGuest runs what it chooses")
	}
	guest(t, "network", "-test.run="+network, "-test.skip="+children)
}

// guest runs a choice of the tests in one machine.
func guest(t *testing.T, name string, choice ...string) {
	t.Helper()
	cases := &tally{name: name, to: os.Stdout}
	args := append([]string{"-test.v", "-test.timeout=" + guestTime.String()}, choice...)
	if testing.Short() {
		args = append(args, "-test.short")
	}
	m := boot(t, vm.Options{
		Payload: map[string]string{"run": guestBinary(t, "test/vm/guest")},
		Args:    args,
		Disks:   blank(t),
		Memory:  4096,
		Console: cases,
		Timeout: guestTime + bootTime,
	})
	result, err := m.Wait(t.Context())
	guestLines.Store(name, cases.String())
	if err != nil {
		t.Fatal(err)
	}
	if result.ExitCode != 0 {
		t.Errorf("the guest's tests ended with exit code %d: %s", result.ExitCode, cases)
	}
	if cases.passed == 0 {
		t.Error("no case ran in the guest")
	}
}

func blank(t *testing.T) []vm.Disk {
	t.Helper()
	dir := t.TempDir()
	disks := make([]vm.Disk, blankDisks)
	for i := range disks {
		serial := fmt.Sprintf("disk%d", i)
		disks[i] = vm.Disk{Serial: serial, Path: filepath.Join(dir, serial), SizeBytes: blankDiskBytes}
	}
	return disks
}

// failureLines of a machine are printed again at the very end, before each failure. The end of
// a log alone then has the reason.
const failureLines = 25

// tally relays a test binary's lines, counts how its cases ended, and keeps what came
// before a failure.
type tally struct {
	// name of the machine: several run at once.
	name                    string
	to                      io.Writer
	passed, failed, skipped int
	recent, failures        []string
}

// Write gets whole lines, as vm.Options.Console does.
func (c *tally) Write(line []byte) (int, error) {
	c.recent = append(c.recent, string(line))
	c.recent = c.recent[max(0, len(c.recent)-failureLines):]
	switch text := strings.TrimLeft(string(line), " "); {
	case strings.HasPrefix(text, "--- PASS: "):
		c.passed++
	case strings.HasPrefix(text, "--- FAIL: "):
		c.failed++
		c.failures = append(c.failures, c.recent...)
		c.recent = nil
	case strings.HasPrefix(text, "--- SKIP: "):
		c.skipped++
	}
	// The lines are indented, so that a reader of our own results does not count these again.
	_, err := fmt.Fprintf(c.to, "    %s| %s", c.name, line)
	return len(line), err
}

func (c *tally) String() string {
	counts := fmt.Sprintf("%d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
	if len(c.failures) == 0 {
		return counts
	}
	return counts + "; before each failure came:\n" + strings.Join(c.failures, "")
}
