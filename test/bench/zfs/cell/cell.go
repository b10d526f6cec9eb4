//go:build linux

// Package cell is what the guest of the ZFS benchmark is asked and tells.
package cell

import (
	"github.com/pgstorage/pgstorage/internal/bench/histogram"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/test/bench/measure"
)

// Configurations that are compared.
const (
	// Default is one dataset with ZFS' own properties, and Postgres' own settings.
	Default = "default"
	// Ours is the profile's datasets and the computed parameters.
	Ours = "ours"
)

// Files that the guest is given.
const (
	PlanFile = "plan.json"
	// JobFile is a server.Job.
	JobFile = "job.json"
)

// Plan of a run.
type Plan struct {
	Serial, Pool    string
	Script          string
	Scale           int
	Clients         []int
	Rounds          int
	Seconds, WarmUp int // of each measured run, and of the load before it
	Matrix          Matrix
}

// Matrix of what is varied, one database for each variant.
type Matrix struct {
	Variants []Variant
	// Turns in their order.
	Turns []Turn
	// Clients of each turn, and Parameters of every database.
	Clients    int
	Parameters map[string]string
}

// Variant is the profile's datasets and the computed parameters, but for this.
type Variant struct {
	Name string
	// Data and WAL have properties of the datasets, as recordsize=16k.
	Data, WAL []string `json:",omitempty"`
	// Parameters of Postgres.
	Parameters map[string]string `json:",omitempty"`
}

// Turn of a variant. Repeat is from 1.
type Turn struct {
	Repeat  int
	Variant string
	Durable bool
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
	// Settings of each variant of the matrix: properties as "data.recordsize", and
	// parameters, as they were read back.
	Properties, Parameters map[string]map[string]string `json:",omitempty"`
}

// Cell is one measured run. In a turn of the matrix, Round is the repeat and
// Configuration the variant.
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
	// Result of pgbench, the rate of each second, and the latencies.
	Result    *pgbench.Result      `json:",omitempty"`
	Rates     []float64            `json:",omitempty"`
	Latencies *histogram.Histogram `json:",omitempty"`
}
