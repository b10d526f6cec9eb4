package validity

import (
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// Facts of one run, as they were observed. Nil is what was not observed. Shares
// are of 1; times and counts are of the run alone: the difference of what was read
// before and after it.
type Facts struct {
	// Duration of the run by a clock that cannot be set, and WallDuration by the
	// one that can.
	Duration     time.Duration
	WallDuration *time.Duration

	Flush    *Flush
	Dataset  *Dataset
	Client   *Client
	Pods     []Pod
	Node     *Node
	Server   *Server
	Workload Workload
}

// Flush of the device that holds the WAL.
type Flush struct {
	// Measured time of one write of 8 kB with the server's wal_sync_method, by
	// pg_test_fsync.
	Measured time.Duration
	// Floor below which this device cannot have written to stable media, and
	// where that is known from.
	Floor  time.Duration
	Source string
}

// Dataset against the memory that can hold it, in bytes.
type Dataset struct {
	// Size of the tables and indexes that the run reads or writes.
	Size          int64
	SharedBuffers int64
	// Cache of the operating system: the most that the ARC may take (zfs_arc_max)
	// on ZFS, and elsewhere the memory that the pod or the node leaves to the page
	// cache.
	Cache int64
	// CacheIsARC says which of the two.
	CacheIsARC bool
}

// Client is the process that makes the load.
type Client struct {
	// CPU time that it used, of Processors that it could use, by Threads.
	CPU        time.Duration
	Processors float64
	Threads    int
}

// Pod that took part in the run, the runner's or an instance's.
type Pod struct {
	Name string
	// Periods of its CPU quota, and in how many of them it had to wait, for how
	// long in all (cpu.stat of the cgroup). No periods: it has no quota.
	Periods, Throttled int64
	ThrottledTime      time.Duration
	// Stalled is the time in which some task of it waited (PSI "some" of the
	// cgroup); nil where the kernel does not tell.
	Stalled *Stalls
}

// Node that an instance ran on.
type Node struct {
	Name string
	// Steal is the share of processor time that the hypervisor gave to others
	// (/proc/stat); nil where there is none to ask.
	Steal *float64
	// Stalled is the time in which some task of the node waited (PSI "some" of
	// /proc/pressure); nil where the kernel does not tell.
	Stalled *Stalls
}

// Stalls by resource.
type Stalls struct{ CPU, IO, Memory time.Duration }

// Server is what Postgres did beside the run.
type Server struct {
	// Checkpoints that began during the run, timed or requested.
	Checkpoints       int64
	CheckpointTimeout time.Duration
	// Autovacuums are the tables that autovacuum worked on.
	Autovacuums []string
	// Backups that ran, base backups or snapshots, as they are called.
	Backups []string
}

// Workload of the run and what pgbench said of it.
type Workload struct {
	// Writes is false for a workload that only reads.
	Writes  bool
	Clients int
	Tier    v1alpha1.DurabilityTier
	// LatencyAverage of a transaction.
	LatencyAverage time.Duration
	// Transactions processed, and those that failed in the end.
	Transactions, Failed int64
	// Changes of level that were found in the run's rate.
	Changes []LevelChange
}

// LevelChange of the rate.
type LevelChange struct {
	At            time.Duration
	Before, After float64
}
