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
	Duration     time.Duration  `json:"durationNanoseconds,omitempty"`
	WallDuration *time.Duration `json:"wallDurationNanoseconds,omitempty"`

	Flush   *Flush   `json:"flush,omitempty"`
	Dataset *Dataset `json:"dataset,omitempty"`
	Client  *Client  `json:"client,omitempty"`
	// Pods and Nodes that could be observed: a check speaks of these alone.
	Pods     []Pod    `json:"pods,omitempty"`
	Nodes    []Node   `json:"nodes,omitempty"`
	Server   *Server  `json:"server,omitempty"`
	Workload Workload `json:"workload"`
}

// Flush of the device that holds the WAL.
type Flush struct {
	// Measured time of one write of 8 kB with the server's wal_sync_method, by
	// pg_test_fsync.
	Measured time.Duration `json:"measuredNanoseconds"`
	// Floor below which this device cannot have written to stable media, and
	// where that is known from.
	Floor  time.Duration `json:"floorNanoseconds,omitempty"`
	Source string        `json:"source,omitempty"`
}

// Dataset against the memory that can hold it, in bytes.
type Dataset struct {
	// Size of the tables and indexes that the run reads or writes.
	Size          int64 `json:"size"`
	SharedBuffers int64 `json:"sharedBuffers"`
	// Cache of the operating system. On ZFS it is the most that the ARC may take (zfs_arc_max).
	// Elsewhere it is the memory that the pod or the node leaves to the page cache. Zero is not
	// known.
	Cache int64 `json:"cache"`
	// CacheIsARC says which of the two.
	CacheIsARC bool `json:"cacheIsARC,omitempty"`
}

// Client is the process that generates the load.
type Client struct {
	// CPU time that it used, of Processors that it could use, by Threads.
	CPU        time.Duration `json:"cpuNanoseconds"`
	Processors float64       `json:"processors"`
	Threads    int           `json:"threads"`
}

// Pod that took part in the run, the runner's or an instance's.
type Pod struct {
	Name string `json:"name"`
	// Periods of its CPU quota, and in how many of them it had to wait, for how
	// long in all (cpu.stat of the cgroup). No periods: it has no quota.
	Periods       int64         `json:"periods"`
	Throttled     int64         `json:"throttled"`
	ThrottledTime time.Duration `json:"throttledNanoseconds"`
	// Quota is the number of processors that the cgroup leaves the pod. Nil without a
	// quota, and where it was not read or changed during the run.
	Quota *float64 `json:"quota,omitempty"`
	// Declared is the CPU limit that the measured cluster declares for the pod, in
	// processors. Nil without one, and for the runner's pod.
	Declared *float64 `json:"declaredLimit,omitempty"`
	// Stalled is the time in which some task of it waited (PSI "some" of the
	// cgroup); nil where the kernel does not report it.
	Stalled *Stalls `json:"stalled,omitempty"`
}

// Node that the runner or an instance ran on.
type Node struct {
	// Name of it, or, where that is not known, "of POD".
	Name string `json:"name"`
	// Steal is the share of processor time that the hypervisor gave to others
	// (/proc/stat); nil where there is none to ask.
	Steal *float64 `json:"steal,omitempty"`
	// Stalled is the time in which some task of the node waited (PSI "some" of
	// /proc/pressure); nil where the kernel does not report it.
	Stalled *Stalls `json:"stalled,omitempty"`
}

// Stalls by resource.
type Stalls struct {
	CPU    time.Duration `json:"cpuNanoseconds"`
	IO     time.Duration `json:"ioNanoseconds"`
	Memory time.Duration `json:"memoryNanoseconds"`
}

// Server is what Postgres did beside the run.
type Server struct {
	// Checkpoints during the run, timed or requested.
	Checkpoints       int64         `json:"checkpoints"`
	CheckpointTimeout time.Duration `json:"checkpointTimeoutNanoseconds"`
	// Autovacuums are the tables that autovacuum worked on.
	Autovacuums []string `json:"autovacuums,omitempty"`
	// Backups that were under way as the run began or ended, as they are called.
	Backups []string `json:"backups,omitempty"`
}

// Workload of the run and what pgbench said of it.
type Workload struct {
	// Writes is false for a workload that only reads.
	Writes  bool                    `json:"writes,omitempty"`
	Clients int                     `json:"clients,omitempty"`
	Tier    v1alpha1.DurabilityTier `json:"tier,omitempty"`
	// LatencyAverage of a transaction.
	LatencyAverage time.Duration `json:"latencyAverageNanoseconds,omitempty"`
	// Transactions processed, and those that failed in the end.
	Transactions int64 `json:"transactions,omitempty"`
	Failed       int64 `json:"failed,omitempty"`
	// Changes of level that were found in the run's rate.
	Changes []LevelChange `json:"changes,omitempty"`
}

// LevelChange of the rate.
type LevelChange struct {
	At     time.Duration `json:"atNanoseconds"`
	Before float64       `json:"before"`
	After  float64       `json:"after"`
}
