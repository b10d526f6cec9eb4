package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// RestartNode records the restart as done, and restarts the node at once. It does not
// sync file systems: that would wait for the suspended pool.
func (e networkExecutor) RestartNode(_ context.Context, a decide.RestartNode) error {
	done := a.Restart
	done.Done = true
	e.net.Record.Restart = &done
	if err := e.save(); err != nil {
		return err
	}
	if err := e.Restart(); err != nil {
		return fmt.Errorf("restart the node: %w", err)
	}
	return nil
}

// restartBySysRq restarts the machine whose / is at root through its kernel.
func restartBySysRq(root string) func() error {
	return func() error { return os.WriteFile(filepath.Join(root, "proc/sysrq-trigger"), []byte("b"), 0o200) }
}
