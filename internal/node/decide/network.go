package decide

import (
	"slices"
	"time"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// Network is what one pass read about the network devices of a pool.
type Network struct {
	// Driver is true if the kernel has loaded the NBD module. Without it no device is
	// attached.
	Driver bool
	// BootID of the node's kernel.
	BootID string
	// Mirror is true if the pool mirrors its servers. Otherwise it stripes over them, and
	// its requests wait while one server is away.
	Mirror bool
	// Lives of the servers by name.
	Lives map[string]Life
	// Servers by name, with the status that each wrote last, also in an earlier life.
	Servers map[string]zerofs.ServerStatus
	// Devices in the order of servers, and of exports in each.
	Devices []NetworkDevice
	// Exports in bytes, by server and name. The pass lists them only for servers that run
	// while one of their devices is missing.
	Exports map[string]map[string]uint64
	// Unasked are the errors of servers whose exports could not be listed, by server.
	Unasked map[string]string
	Record  NetworkRecord
	// Mounted is true if a volume of the pool is mounted on the node.
	Mounted bool
	// Unread is true if ZFS could not be read: the pool may be imported.
	Unread bool
	// FlushLatency measured lately; 0 if none was.
	FlushLatency time.Duration
}

// Life of a server: the time from one start of its process to its end.
type Life struct {
	ID, BootID string
	// Running is what its record says, also after the server was killed. Held is true
	// while a process holds the lock that every server keeps as long as it lives.
	Running, Held bool
	// Clean is true if the server shut down cleanly.
	Clean bool
	// Inherits lists earlier lives. This life has everything written to their devices.
	Inherits []string
	// Problem is why the life could not be read; then all else is empty.
	Problem string
}

// Has reports whether this life has everything written to devices of the given one.
func (l Life) Has(life string) bool { return l.ID == life || slices.Contains(l.Inherits, life) }

// NetworkDevice is an export of a server, and the device that it is attached as.
type NetworkDevice struct {
	Server, Export string
	// Link is the path by which the pool knows the device, whatever its index is.
	Link string
	// Attached is nil while it is not.
	Attached *Attachment
}

// Attachment of a device, as the kernel reports it.
type Attachment struct {
	Index int
	// Path of the device, such as /dev/nbd0.
	Path  string
	Bytes uint64
	// Identifier that the kernel keeps with it.
	Identifier string
	// Life of the server that the device was attached to, or last reconnected to.
	Life string
	// Dead is true if a probe read a block and failed. A pass probes a device only with a
	// reason, and only if the read cannot block indefinitely.
	Dead bool
	// Waits is how long the oldest request has waited according to the server, or how long
	// the device has answered no request at all.
	Waits time.Duration
	// Silent is true if requests have waited long and the server does not know of them.
	Silent bool
	// Dropped is true if the agent disconnected it, so that waiting requests fail.
	Dropped bool
	// InFlight requests.
	InFlight int
}

// Name of a device in records and messages: server/export.
func (d NetworkDevice) Name() string { return d.Server + "/" + d.Export }
