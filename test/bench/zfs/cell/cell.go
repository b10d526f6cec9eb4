//go:build linux

// Package cell has what the ZFS benchmark and its guest exchange.
package cell

import (
	"github.com/pgstorage/pgstorage/internal/bench/histogram"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/test/bench/measure"
)

// Configurations that are compared.
const (
	// Default is one dataset with the defaults of ZFS, and the defaults of Postgres.
	Default = "default"
	// Ours is the profile's datasets and the derived parameters.
	Ours = "ours"
)

// JobFile is the name of the file with the guest's server.Job.
const JobFile = "job.json"

// Plan of a run.
type Plan struct {
	measure.Plan
	Matrix Matrix
}

// Matrix of variants, each with a database.
type Matrix struct {
	Variants []Variant
	// Turns in their order.
	Turns []Turn
	// Clients of each turn, and Parameters of every database.
	Clients    int
	Parameters map[string]string
}

// Variant is a change of the profile's datasets and the derived parameters.
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
	measure.Sample
	// Running is from the first to the last transaction, Settled until a checkpoint and a
	// sync of the pool have written what the run left.
	Running, Settled Counters
	// WALBytes and FullPages that Postgres counted.
	WALBytes, FullPages int64
	// Result of pgbench, the rate of each second, and the latencies.
	Result    *pgbench.Result      `json:",omitempty"`
	Rates     []float64            `json:",omitempty"`
	Latencies *histogram.Histogram `json:",omitempty"`
}
