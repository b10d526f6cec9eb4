// Package decide decides what a node's agent does next. It takes what a PgNodeStorage declares
// and what a pass has read, and returns the missing changes, the conditions, and the status. It
// runs nothing and reads no clock.
package decide

import (
	"github.com/pgstorage/pgstorage/internal/node/blockdev"
	"github.com/pgstorage/pgstorage/internal/node/tmpfs"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

// Seen is what one pass has read from the node.
type Seen struct {
	Version zfs.Versions
	// Loaded: the kernel has the ZFS module. Without it nothing else was read.
	Loaded bool
	// Pool holds the properties of the declared pool; nil when it is not imported.
	Pool map[string]zfs.Property
	// Status and Datasets of the pool; Datasets was not read from one that does not serve.
	Status   zfs.Status
	Datasets []zfs.Dataset
	// Importable pools; read only when the pool is not imported.
	Importable []zfs.Importable
	// Devices of the node, partitions as children of their disk.
	Devices []blockdev.Device
	// Signatures on the devices that a new pool could take, by path; read only when
	// MayCreate.
	Signatures map[string]blockdev.Signatures
	// Missing are declared devices that the node does not have.
	Missing []string
	// Unreadable are devices whose contents could not be read, with the error, by path.
	Unreadable map[string]string
	ARC        zfs.ARC
	// OlderARC is the limit that an older PgNodeStorage of the node declares, or nil.
	OlderARC *ARCLimit
	// Made is what the node keeps of the pool.
	Made PoolRecord
	// Network devices; nil for a pool on disks.
	Network *Network
	// Memory has the volumes in memory; nil for a profile with a pool. Nothing else was read
	// with it.
	Memory *tmpfs.Seen
}

func (s Seen) health() zfs.Health {
	if s.Status.Suspended {
		return zfs.Suspended
	}
	return zfs.Health(s.Pool["health"].Value)
}

// Serves says that the pool does I/O, so that its datasets can be read. Those of one
// that is suspended, faulted or unavailable cannot, nor can those of one whose devices
// stall.
func (s Seen) Serves() bool {
	return (s.health() == zfs.Online || s.health() == zfs.Degraded) && !s.Network.Stalls()
}

// unreadable is why the contents of a device are unknown, as the end of a message.
func (s Seen) unreadable(path string) string {
	if why := s.Unreadable[path]; why != "" {
		return ": " + why
	}
	return ""
}

// dataset by name, or nil.
func (s Seen) dataset(name string) *zfs.Dataset {
	for i := range s.Datasets {
		if s.Datasets[i].Name == name {
			return &s.Datasets[i]
		}
	}
	return nil
}
