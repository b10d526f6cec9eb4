package postgres

// defaults are the values, in bytes or as plain numbers, of parameters that the budget
// depends on. Neither the user nor the operator sets these. CloudNativePG raises some
// defaults of Postgres (pkg/postgres/configuration.go of v1.30.0).
var defaults = map[string]int64{
	"autovacuum_max_workers":         3,
	"autovacuum_worker_slots":        16,
	"max_locks_per_transaction":      64,
	"max_parallel_workers":           32, // CloudNativePG
	"max_pred_locks_per_transaction": 64,
	"max_replication_slots":          32, // CloudNativePG
	"max_wal_senders":                10,
	"max_worker_processes":           cnpgWorkers,
	"shared_buffers":                 128 * mB,
	"superuser_reserved_connections": 3,
	"track_activity_query_size":      kB,
	"wal_keep_size":                  cnpgKeep,
	"work_mem":                       4 * mB,
	"maintenance_work_mem":           64 * mB,
}

// numbers are values of parameters in bytes, or as plain numbers.
type numbers map[string]int64

// final values of a set of parameters, over the defaults.
func (in Inputs) final(ps []Parameter) numbers {
	out := make(numbers, len(ps)+len(defaults))
	for name, v := range defaults {
		if Known(in.Major, name) {
			out[name] = v
		}
	}
	for _, p := range ps {
		if p.Name == "huge_pages" && p.Value != "off" {
			out[p.Name] = 1
		}
		if n, ok := BaseValue(in.Major, p.Name, p.Value); ok {
			_, base := unitsOf(catalogue()[in.Major][p.Name].unit)
			out[p.Name] = int64(n * base)
		}
	}
	return out
}

// Bytes of shared memory for one unit of each: shared_memory_size of PostgreSQL 15, 17
// and 18, rounded up. docs/parameters.md has the measurement.
const (
	perLock      = 440            // of each process, for max_locks_per_transaction
	perPredicate = 280            // the same, for max_pred_locks_per_transaction
	perProcess   = 12 * 1024      // besides its locks
	perSlot      = 1024           // of max_replication_slots
	perHandle    = 720            // of io_max_concurrency, for each process, from 18 on
	fixedShared  = 8 * mB         // everything that does not grow
	sharedExtra  = float64(0.031) // of shared_buffers, for what describes them
)

// slru are caches that a user may size, in pages of 8 kB, from 17 on.
var slru = []string{"commit_timestamp_buffers", "multixact_member_buffers", "multixact_offset_buffers", "notify_buffers", "serializable_buffers", "subtransaction_buffers", "transaction_buffers"}

// processes that have a place in shared memory: MaxBackends of Postgres.
func (v numbers) processes() int64 {
	vacuum := v["autovacuum_max_workers"]
	if slots, ok := v["autovacuum_worker_slots"]; ok { // from 18 on
		vacuum = slots
	}
	return v["max_connections"] + vacuum + 1 + v["max_worker_processes"] + v["max_wal_senders"]
}

// shared memory that Postgres allocates at its start, at most.
func (v numbers) shared() int64 {
	const auxiliary = 45
	n := v.processes() + v["max_prepared_transactions"] + auxiliary
	each := perProcess + float64(v["max_locks_per_transaction"])*perLock + float64(v["max_pred_locks_per_transaction"])*perPredicate + float64(v["track_activity_query_size"])
	if _, ok := v["autovacuum_worker_slots"]; ok {
		handles := v["io_max_concurrency"]
		if handles <= 0 {
			handles = 64
		}
		each += float64(handles) * perHandle
	}
	wal := v["wal_buffers"]
	if wal <= 0 {
		wal = 16 * mB
	}
	sum := float64(n)*each + float64(v["shared_buffers"])*(1+sharedExtra) + float64(wal)*1.01
	sum += float64(v["max_replication_slots"])*perSlot + float64(v["min_dynamic_shared_memory"]) + float64(fixedShared)
	for _, name := range slru {
		sum += float64(v[name]) * 1.1
	}
	return clamp(sum)
}

// clamp to what an int64 holds.
func clamp(n float64) int64 { return int64(min(n, 1<<62)) }
