package spec

import (
	"fmt"
	"math"
)

// Space is the capacity of the volumes that a benchmark writes to.
type Space struct {
	// DataBytes is the capacity in bytes of the smallest data volume of any instance.
	DataBytes int64 `json:"dataBytes"`
	// WALBytes is the capacity in bytes of the smallest WAL volume of any instance;
	// zero where the WAL is on the data volume.
	WALBytes int64 `json:"walBytes,omitempty"`
}

// What pgbench --initialize writes for each unit of scale, rounded up from 15,687,574 bytes of
// tables and indexes and 12,885,461 bytes of WAL. Measured on PostgreSQL 15 at scales 50 and
// 100 with wal_level=logical, wal_log_hints=on and checksums.
const (
	dataOfScale = 16_000_000
	walOfScale  = 13_000_000
	// growth is the factor by which runs may let the tables grow: dead rows,
	// pgbench_history and the sort files of index builds.
	growth = 2
	// walSlack is what the WAL took in these measurements beyond max_wal_size and
	// wal_keep_size, which are soft limits: two segments.
	walSlack = 32 << 20

	// leastFloor is eight segments of WAL, of the default size in Postgres.
	leastFloor = 128 << 20
)

// Used is what the database takes of its volumes, in bytes.
type Used struct {
	Data, WAL int64
	// WALLimit is what max_wal_size and wal_keep_size let the WAL take in the long run.
	WALLimit int64
	// WALHidden says that the session may not list the WAL. WAL is then WALLimit.
	WALHidden bool
}

// WALLimit of a server by its settings, in bytes.
func WALLimit(maxWALSize, walKeepSize int64) int64 { return maxWALSize + walKeepSize + walSlack }

// DataNeed is the size in bytes that the tables of a scale may reach.
func DataNeed(scale int32) int64 { return growth * dataOfScale * int64(scale) }

// walNeed is how much the WAL may grow in bytes: by what loading writes, until
// checkpoints recycle it.
func walNeed(scale int32, used Used) int64 {
	return min(walOfScale*int64(scale), max(0, used.WALLimit-used.WAL))
}

// Floor is the free space in bytes that a benchmark leaves on a volume: a tenth of its
// capacity, and at least 128 MiB.
func Floor(capacity int64) int64 { return max(capacity/10, leastFloor) }

// Refuse says why tables of a scale do not fit the volumes, whatever is on them, or "".
func (s Space) Refuse(scale int32) string { return s.Lacks(scale, Used{}) }

// Lacks says why tables of a scale do not fit beside what is used already, or "".
func (s Space) Lacks(scale int32, used Used) string {
	need, wal := DataNeed(scale), walNeed(scale, used)
	if s.WALBytes == 0 {
		need, wal = need+wal, 0
		used = onOneVolume(used)
	}
	if lacks := lacking("data", s.DataBytes, need, used.Data); lacks != "" {
		return fmt.Sprintf("spec.pgbench.scale: %d %s; lower it to at most %d, or raise spec.storage.size of the cluster", scale, lacks, s.largest(scale, used))
	}
	if s.WALBytes == 0 {
		return ""
	}
	if lacks := lacking("WAL", s.WALBytes, wal, used.WAL); lacks != "" {
		return fmt.Sprintf("spec.pgbench.scale: %d %s; raise spec.storage.walSize of the cluster, or lower its max_wal_size", scale, lacks)
	}
	return ""
}

// largest scale that the data volume has room for, by the need of another one.
func (s Space) largest(scale int32, used Used) int64 {
	each := float64(DataNeed(scale)) / float64(scale)
	if s.WALBytes == 0 {
		each += float64(walNeed(scale, used)) / float64(scale)
	}
	return max(0, int64(math.Floor(float64(s.DataBytes-Floor(s.DataBytes)-used.Data)/each)))
}

func lacking(volume string, capacity, need, used int64) string {
	floor := Floor(capacity)
	if capacity-used-need >= floor {
		return ""
	}
	return fmt.Sprintf("may take %s of the %s volume of %s, of which %s are used and %s must stay free",
		Megabytes(need), volume, Megabytes(capacity), Megabytes(used), Megabytes(floor))
}

func onOneVolume(used Used) Used {
	used.Data += used.WAL
	return used
}

// Low says that free space fell below the floor of a volume, or "".
func (s Space) Low(used Used) string {
	if s.WALBytes == 0 {
		return low("data", s.DataBytes, used.Data+used.WAL)
	}
	if l := low("data", s.DataBytes, used.Data); l != "" || used.WALHidden {
		return l
	}
	return low("WAL", s.WALBytes, used.WAL)
}

func low(volume string, capacity, used int64) string {
	if capacity-used >= Floor(capacity) {
		return ""
	}
	return fmt.Sprintf("the database takes %s of the %s volume of %s, and %s must stay free",
		Megabytes(used), volume, Megabytes(capacity), Megabytes(Floor(capacity)))
}

// Near says that free space of a volume is below four times its floor, so that it
// is worth a closer look.
func (s Space) Near(used Used) bool {
	const times = 4
	if s.WALBytes == 0 {
		return s.DataBytes-used.Data-used.WAL < times*Floor(s.DataBytes)
	}
	return s.DataBytes-used.Data < times*Floor(s.DataBytes) || s.WALBytes-used.WAL < times*Floor(s.WALBytes)
}

// Megabytes is an amount of bytes in words, in units of 10^6 bytes.
func Megabytes(bytes int64) string { return fmt.Sprintf("%d MB", int64(math.Ceil(float64(bytes)/1e6))) }
