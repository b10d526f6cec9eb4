package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/decide"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// readLife reads the life of a server from the record in its directory, and its lock.
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
	// It may have shut down cleanly since the record was read.
	if again, err := zerofs.ReadIncarnation(directory); err == nil && again.ID == i.ID && again.State == zerofs.StateStopped {
		life.Running, life.Clean = false, true
	}
	return life
}

// ServersDigest changes when a life of one of the servers of s began or ended, or when a
// server entered another phase. It reads only files.
func (n *Node) ServersDigest(s *v1alpha1.PgNodeStorage) string {
	var out strings.Builder
	for _, server := range s.Spec.NetworkDevices.Servers {
		directory := filepath.Join(n.Root, server.Directory)
		life := readLife(directory)
		reported, _ := zerofs.ReadStatus(directory) // no status means no phase
		fmt.Fprintln(&out, server.Name, life.ID, life.Running, life.Held, life.Clean, life.Problem, reported.Life, reported.Phase)
	}
	return out.String()
}

// held reports whether a process holds the lock of a server. The kernel releases it with the
// last process that has it, however that ends, so a free lock proves the end of a life.
//
// It tries the lock instead of searching /proc/locks. The kernel shows that file in pieces,
// between which entries can move. It also hides a lock whose first holder is dead from all but
// the first PID namespace. A running server does not notice the attempt. If the lock is free,
// held takes it for an instant, in which a server that starts has to retry.
func held(path string) (bool, error) {
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY)) // no lock file is an error
	free, err := lock.TryRLock()
	if err != nil {
		return false, fmt.Errorf("lock of the server: %w", err)
	}
	return !free, lock.Close()
}
