//go:build guest

package s3nbd_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

const (
	pool      = "tank"
	file      = "/" + pool + "/file"
	fileBytes = 24 << 20
)

// command runs a program and returns what it prints.
func command(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

func device(n int) string { return fmt.Sprintf("/dev/nbd%d", n) }

// attach without -persist: a server that comes again may have lost writes. With one
// connection: each has a work item of the kernel's that never ends, and where a
// thread is not made at once, the rescuer of the device's workqueue takes all of
// them, runs the first, and the answers on the others are never read.
func attach(ctx context.Context, socket string, names []string) error {
	for n, name := range names {
		if _, err := command(ctx, "nbd-client", "-unix", socket, device(n), "-name", name,
			"-block-size", "4096", "-timeout", "600"); err != nil {
			return err
		}
	}
	// Partitions of a pool get their names from udev.
	_, err := command(ctx, "udevadm", "settle", "--timeout=100")
	return err
}

func createPool(ctx context.Context) (guid string, err error) {
	args := []string{"create", "-o", "ashift=12", "-o", "cachefile=none", pool}
	for n := range exports {
		args = append(args, device(n))
	}
	if _, err := command(ctx, "zpool", args...); err != nil {
		return "", err
	}
	return command(ctx, "zpool", "get", "-H", "-o", "value", "guid", pool)
}

func importPool(ctx context.Context, guid string) error {
	_, err := command(ctx, "zpool", "import", "-d", "/dev", "-o", "cachefile=none", guid)
	return err
}

// fill writes what no cache could guess, durably, and returns its hash.
func fill(ctx context.Context) (string, error) {
	f, err := os.Create(file)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = io.CopyN(io.MultiWriter(f, sum), rand.Reader, fileBytes)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", err
	}
	_, err = command(ctx, "zpool", "sync", pool)
	return hex.EncodeToString(sum.Sum(nil)), err
}

func digest() (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// release leaves the devices in the order that loses nothing.
func release(ctx context.Context) error {
	if _, err := command(ctx, "zpool", "export", pool); err != nil {
		return err
	}
	for n := range exports {
		if _, err := command(ctx, "nbd-client", "-d", device(n)); err != nil {
			return err
		}
	}
	return nil
}
