package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// set makes every change that the node accepts, also after it refused one. It stops at a
// command that does not end.
func (n *Node) set(ctx context.Context, pool string, c decide.Changes) error {
	var todo []func() error
	for _, name := range slices.Sorted(maps.Keys(c.Pool)) {
		todo = append(todo, func() error { return n.ZFS.SetPool(ctx, pool, map[string]string{name: c.Pool[name]}) })
	}
	for _, d := range c.Datasets {
		change := n.ZFS.SetDataset
		if d.Create {
			change = n.ZFS.CreateDataset
		}
		todo = append(todo, func() error { return change(ctx, d.Name, d.Properties) })
	}
	if c.ARCMax != 0 {
		todo = append(todo, func() error { return n.setARCMax(c.ARCMax) })
	}
	var failed []error
	for _, do := range todo {
		err := do()
		failed = append(failed, err)
		if endless(err) || ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

// setARCMax writes the module's parameter, which holds until the module is loaded again;
// the agent then sets it again. The module accepts any number but ignores one that it
// considers out of range, which is an error.
func (n *Node) setARCMax(bytes uint64) error {
	path, text := filepath.Join(n.Root, "sys/module/zfs/parameters/zfs_arc_max"), strconv.FormatUint(bytes, 10)
	if n.DryRun != nil {
		n.DryRun([]string{"write", text, path})
		return nil
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("set zfs_arc_max: %w", err)
	}
	arc, err := n.Kernel.ARC()
	if err == nil && arc.Max != bytes {
		err = fmt.Errorf("ZFS ignores arcMax of %d bytes and keeps %d. It must be more than the ARC's minimum (%d bytes) and 64Mi, and less than the node's memory", bytes, arc.Max, arc.Min)
	}
	return err
}
