package validity

import (
	"fmt"
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/durability"
)

// LeastFlush is a floor for any device whose own is not known. Flash with a protected cache
// takes 10 to 30 microseconds, and a round trip of NVMe takes longer than 5. A write that is
// faster was kept in memory.
const LeastFlush = 5 * time.Microsecond

// Flushed says whether the device keeps the promise of a flush, without which
// every figure of a durable workload is of memory.
func Flushed(f Facts) Finding {
	if !durability.Tier(f.Workload.Tier).Flushes() || !f.Workload.Writes {
		return passed(CheckFlush, "no transaction waits for a flush")
	}
	if f.Flush == nil || f.Flush.Measured <= 0 {
		return notRun(CheckFlush, "the time of a flush (pg_test_fsync)")
	}
	floor, source := max(f.Flush.Floor, LeastFlush), f.Flush.Source
	if f.Flush.Floor < LeastFlush {
		source = "any device"
	}
	if f.Flush.Measured < floor {
		return Finding{CheckFlush, Rejected, ReasonFlushNotHonoured, fmt.Sprintf(
			"a flush took %v, and %s cannot do it in less than %v: a layer below Postgres acknowledges writes that are still in memory. "+
				"Turn off its volatile write cache, or remove sync=disabled, cache=unsafe or ignore_fsync from it, and measure again", f.Flush.Measured, source, floor)}
	}
	// A lone client waits for its own flush in every transaction.
	if f.Workload.Clients == 1 && f.Workload.LatencyAverage > 0 && f.Workload.LatencyAverage < floor {
		return Finding{CheckFlush, Rejected, ReasonCommitBelowFlushFloor, fmt.Sprintf(
			"one client committed in %v on average, and %s cannot flush in less than %v, so commits did not wait for it. "+
				"Check whether the role, the database or the script sets synchronous_commit", f.Workload.LatencyAverage, source, floor)}
	}
	return passed(CheckFlush, fmt.Sprintf("a flush took %v, the least that %s needs is %v", f.Flush.Measured, source, floor))
}
