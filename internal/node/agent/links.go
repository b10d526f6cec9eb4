package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// relink makes the links that are missing, as after an agent that ended between a
// device and its link.
func (n *Node) relink(net *decide.Network) error {
	for _, d := range net.Devices {
		if d.Attached == nil {
			continue
		}
		if err := n.link(d.Link, d.Attached.Path); err != nil {
			return err
		}
	}
	return nil
}

// link a name of ours to a device, both as the node sees them.
func (n *Node) link(name, device string) error {
	if n.DryRun != nil {
		return nil
	}
	path := filepath.Join(n.Root, name)
	if now, err := os.Readlink(path); err == nil && now == device {
		return nil
	}
	err := os.MkdirAll(filepath.Dir(path), 0o755) //nolint:gosec // G301: zpool of any user may follow it
	if err = errors.Join(err, renameio.Symlink(device, path)); err != nil {
		return fmt.Errorf("link to %s: %w", device, err)
	}
	return nil
}
