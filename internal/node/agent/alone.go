package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"
)

// agentLock is the name, beside the records, of what an agent holds a lock of (flock).
const agentLock = "lock"

// Alone makes this the one agent of the machine whose / is at root, until the file is
// closed or the process ends. While another one lives, as after a forced deletion of its
// pod, it waits for the end of that, or of ctx, which is an error: both would write
// records that the other does not know of.
func Alone(ctx context.Context, root string) (*os.File, error) {
	dir := filepath.Join(root, recordDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("lock of the agent: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, agentLock), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock of the agent: %w", err)
	}
	err = wait.PollUntilContextCancel(ctx, time.Second, true, func(context.Context) (bool, error) {
		err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return false, nil
		}
		return err == nil, err
	})
	switch {
	case err == nil:
		return lock, nil
	case ctx.Err() != nil:
		err = errors.New("another agent lives on this node; its pod may have been deleted by force")
	}
	return nil, errors.Join(fmt.Errorf("lock of the agent: %w", err), lock.Close())
}
