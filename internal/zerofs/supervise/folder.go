package supervise

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	lockFile = "lock"
	// private: whoever reaches the sockets can read and write every device.
	private = 0o700
)

// ErrHeld is a folder whose server, or the supervisor of it, lives.
var ErrHeld = errors.New("another server is running here")

// prepare the folder of a server. The file is its lock, held until it is closed here
// and in every child that inherited it. Sockets that a former server left are removed:
// ZeroFS does not when it ends (0.19.1).
func prepare(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, private); err != nil {
		return nil, fmt.Errorf("folder of the server: %w", err)
	}
	if err := os.Chmod(dir, private); err != nil {
		return nil, fmt.Errorf("folder of the server: %w", err)
	}
	held, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock of the server: %w", err)
	}
	err = unix.Flock(int(held.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrHeld
	}
	if err == nil {
		err = removeSockets(dir)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("folder %s: %w", dir, err), held.Close())
	}
	return held, nil
}

func removeSockets(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSocket == 0 {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("stale socket: %w", err)
		}
	}
	return nil
}

// bootID of the running kernel (random(4)).
func bootID() (string, error) {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("boot id: %w", err)
	}
	return strings.TrimSpace(string(raw)), nil
}
