//go:build linux

// Package cell is what the guest of the ZFS benchmark is asked and tells.
package cell

import "github.com/pgstorage/pgstorage/test/vm/postgres/measure"

// Configurations that are compared.
const (
	// Default is one dataset with ZFS' own properties, and Postgres' own settings.
	Default = "default"
	// Ours is the profile's datasets and the computed parameters.
	Ours = "ours"
)

// Plan of a run, given to the guest as plan.json.
type Plan struct {
	Serial, Pool    string
	Script          string
	Scale           int
	Clients         []int
	Rounds          int
	Seconds, WarmUp int // of each measured run, and of the load before it
}

// Counters of the disk.
type Counters = measure.Counters

// Facts of the guest, for the report.
type Facts struct {
	measure.Versions
	// Datasets have a line "name property value source" for each property that the
	// figures depend on.
	Datasets []string
	// DatabaseBytes once it was filled.
	DatabaseBytes int64
}

// Cell is one measured run.
type Cell struct {
	Round         int
	Configuration string
	Durable       bool
	Clients       int
	TPS           float64
	Transactions  int64
	// Running is from the first to the last transaction; Settled until a checkpoint
	// and a sync of the pool have written what they left.
	Running, Settled Counters
	// SettleSeconds is how long that took, after the last transaction.
	SettleSeconds float64
	// Busy is the part of the guest's processors that worked.
	Busy float64
	// WALBytes and FullPages, as Postgres counts them.
	WALBytes, FullPages int64
}
