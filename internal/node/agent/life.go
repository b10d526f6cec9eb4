package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/decide"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// readLife of a server by the record in its directory, and by its lock.
func readLife(directory string) decide.Life {
	i, err := zerofs.ReadIncarnation(directory)
	if err != nil {
		return decide.Life{Problem: err.Error()}
	}
	life := decide.Life{
		ID: i.ID, BootID: i.BootID, Inherits: i.Inherits,
		Running: i.State == zerofs.StateRunning, Clean: i.State == zerofs.StateStopped,
	}
	if !life.Running {
		return life
	}
	if life.Held, err = held(filepath.Join(directory, zerofs.LockFile)); err != nil {
		return decide.Life{Problem: err.Error()}
	}
	if life.Held {
		return life
	}
	// It may have ended in order between both looks.
	if again, err := zerofs.ReadIncarnation(directory); err == nil && again.ID == i.ID && again.State == zerofs.StateStopped {
		life.Running, life.Clean = false, true
	}
	return life
}

// Mark of the servers of a PgNodeStorage: another one where a life of one began or ended,
// or where it entered another phase. It reads files, and asks nobody.
func (n *Node) Mark(s *v1alpha1.PgNodeStorage) string {
	var out strings.Builder
	for _, server := range s.Spec.NetworkDevices.Servers {
		directory := filepath.Join(n.Root, server.Directory)
		life := readLife(directory)
		told, _ := zerofs.ReadStatus(directory) // none is no phase
		fmt.Fprintln(&out, server.Name, life.ID, life.Running, life.Held, life.Clean, life.Problem, told.Life, told.Phase)
	}
	return out.String()
}

// held says that somebody has the lock of a server. The kernel drops it with the last
// process that has it, however that ends, so that this proves the end of a life.
//
// It is asked for rather than looked up in /proc/locks, which is read in pieces that
// others can slip between, and which hides a lock whose first holder is dead from all
// but the first PID namespace. The answer disturbs nobody while the server lives. Where
// it is free, it is taken for an instant, in which a server that starts is refused and
// has to try again.
func held(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("lock of the server: %w", err)
	}
	defer f.Close() //nolint:errcheck // read-only
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("lock of the server: %w", err)
	}
	// A child that is being started may share the file for a moment.
	return false, unix.Flock(int(f.Fd()), unix.LOCK_UN)
}
