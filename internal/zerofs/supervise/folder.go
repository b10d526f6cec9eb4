package supervise

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

const (
	// private, because a process that reaches the sockets can read and write every
	// device.
	private = 0o700

	lockEvery = 20 * time.Millisecond
	lockTime  = time.Second
)

// ErrHeld is a folder whose server, or the supervisor of it, lives.
var ErrHeld = errors.New("another server is running here")

// prepare the folder of a server. The file is its lock, held until it is closed here
// and in every child that inherited it. Sockets that a former server left are removed.
func prepare(ctx context.Context, dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, private); err != nil {
		return nil, fmt.Errorf("folder of the server: %w", err)
	}
	if err := os.Chmod(dir, private); err != nil {
		return nil, fmt.Errorf("folder of the server: %w", err)
	}
	held, err := os.OpenFile(filepath.Join(dir, zerofs.LockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock of the server: %w", err)
	}
	err = take(ctx, held)
	if err == nil {
		err = removeSockets(dir)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("folder %s: %w", dir, err), held.Close())
	}
	return held, nil
}

// take a lock. A node's agent has it for an instant when it looks whether a server has.
func take(ctx context.Context, lock *os.File) error {
	err := wait.PollUntilContextTimeout(ctx, lockEvery, lockTime, true, func(context.Context) (bool, error) {
		err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return false, nil
		}
		return err == nil, err
	})
	if wait.Interrupted(err) {
		return errors.Join(ErrHeld, context.Cause(ctx))
	}
	return err
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

// removeUpstream sockets, the relay's own not: ZeroFS does not when it ends (0.19.1).
func removeUpstream(dir string) error {
	for _, name := range []string{zerofs.UpstreamSocket, zerofs.NinePSocket} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
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
