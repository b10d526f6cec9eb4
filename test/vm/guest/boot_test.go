//go:build guest

// Package guest_test runs inside the virtual machine of test/vm: it alone can have
// pools, disks and a kernel's modules to itself. The host gives it the blank disks
// /dev/disk/by-id/virtio-disk0 to -disk11.
package guest_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// blankDisks is how many the host attaches; test/vm knows the same number.
const blankDisks = 12

func diskPath(i int) string { return fmt.Sprintf("/dev/disk/by-id/virtio-disk%d", i) }

// output runs a program of the guest and returns what it printed.
func output(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func TestModulesAreLoaded(t *testing.T) {
	for _, module := range []string{"zfs", "nbd"} {
		if _, err := os.Stat("/sys/module/" + module); err != nil {
			t.Errorf("module %s: %v", module, err)
		}
	}
}

// What the agent reads is of the version that the parsers were written for.
func TestZFSHasTheVersionOfTheParsers(t *testing.T) {
	lines := strings.Fields(output(t, "zfs", "version"))
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "zfs-2.1.") || !strings.HasPrefix(lines[1], "zfs-kmod-2.1.") {
		t.Errorf("zfs version printed %q, want a tool and a module of 2.1", lines)
	}
}

func TestDisksAreBlank(t *testing.T) {
	for i := range blankDisks {
		if out := output(t, "wipefs", "--noheadings", diskPath(i)); out != "" {
			t.Errorf("%s has signatures:\n%s", diskPath(i), out)
		}
	}
}

// A pool on a whole disk needs udev to name the partitions that zpool makes.
func TestPoolIsCreatedOnAWholeDisk(t *testing.T) {
	erase(t, "boottest", 0)
	output(t, "zpool", "create", "-m", "none", "boottest", diskPath(0))
	if out := output(t, "zpool", "list", "-Hp", "-o", "health", "boottest"); strings.TrimSpace(out) != "ONLINE" {
		t.Errorf("health %q", out)
	}
}

func TestProgramsAreInstalled(t *testing.T) {
	for _, program := range []string{
		"postgres", "initdb", "pg_ctl", "pgbench", "pg_amcheck", "nbd-client",
		"mkfs.ext4", "mkfs.xfs", "mkfs.vfat", "mkswap", "sfdisk", "pvcreate", "mdadm", "wipefs", "blkid", "lsblk",
	} {
		if _, err := exec.LookPath(program); err != nil {
			t.Error(err)
		}
	}
	if out := output(t, "postgres", "--version"); !strings.Contains(out, "PostgreSQL") {
		t.Errorf("postgres --version printed %q", out)
	}
}
