//go:build linux

package postgres

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The estimate of shared memory is never below what Postgres asks for, and not far
// above it.
func TestSharedMemoryEstimate(t *testing.T) {
	r := startReal(t)
	if r.major < 15 {
		t.Skip("shared_memory_size is of PostgreSQL 15")
	}
	for _, pairs := range []string{
		"",
		"shared_buffers=16MB max_connections=20",
		"shared_buffers=4GB",
		"max_connections=1000 max_wal_senders=200 max_worker_processes=300",
		"max_connections=2000 shared_buffers=2GB track_activity_query_size=64kB",
		"max_locks_per_transaction=10000",
		"max_pred_locks_per_transaction=10000",
		"max_prepared_transactions=3000",
		"max_replication_slots=10000",
		"autovacuum_max_workers=500",
		"min_dynamic_shared_memory=1GB wal_buffers=512MB",
	} {
		in := roomy(r.major)
		in.MemoryBytes = 64 * gB
		in.User = map[string]string{}
		for pair := range strings.FieldsSeq(pairs) {
			name, value, _ := strings.Cut(pair, "=")
			in.User[name] = value
		}
		ps, refusals := Compute(in)
		if len(refusals) > 0 {
			t.Fatal(refusals)
		}
		settings := map[string]string{"max_worker_processes": "32", "max_replication_slots": "32", "wal_level": "logical"} // CloudNativePG's
		for _, p := range ps {
			settings[p.Name] = p.Value
		}
		said, err := r.read(t, settings, "shared_memory_size")
		if err != nil {
			t.Fatal(said)
		}
		mb, err := strconv.ParseInt(regexp.MustCompile(`(?m)^\d+$`).FindString(said), 10, 64)
		if err != nil {
			t.Fatalf("%q: %v", said, err)
		}
		estimate, asked := in.final(ps).shared(), mb*mB
		if estimate < asked || estimate > asked+asked/8+24*mB {
			t.Errorf("%q: %s estimated, %s asked for", pairs, rounded(estimate), rounded(asked))
		}
	}
}
