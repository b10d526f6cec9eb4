package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const (
	// agentLock is the name of the lock file beside the records.
	agentLock = "lock"
	// lockInterval between two attempts to get a lock that another agent holds.
	lockInterval = time.Second
)

// LockNode makes this process the only agent of the machine whose / is at root. It stays so
// until the lock is closed or the process ends: two agents would overwrite each other's
// records. While another agent runs, for example after its pod was deleted by force, it waits.
// It returns an error when ctx ends first.
func LockNode(ctx context.Context, root string) (io.Closer, error) {
	dir := filepath.Join(root, recordDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("lock of the agent: %w", err)
	}
	lock := flock.New(filepath.Join(dir, agentLock), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	_, err := lock.TryLockContext(ctx, lockInterval)
	switch {
	case err == nil:
		return lock, nil
	case ctx.Err() != nil:
		err = errors.New("another agent runs on this node; its pod may have been deleted by force")
	}
	return nil, fmt.Errorf("lock of the agent: %w", err)
}
