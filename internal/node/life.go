package node

import (
	"github.com/pgstorage/pgstorage/internal/nodestorage"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// readLife of a server by the record in its directory.
func readLife(directory string) nodestorage.Life {
	i, err := zerofs.ReadIncarnation(directory)
	if err != nil {
		return nodestorage.Life{Problem: err.Error()}
	}
	life := nodestorage.Life{ID: i.ID, BootID: i.BootID, Running: i.State == zerofs.StateRunning, Clean: i.State == zerofs.StateStopped}
	if i.Previous != nil {
		life.Previous, life.PreviousClean = i.Previous.ID, i.Previous.Clean
	}
	return life
}
