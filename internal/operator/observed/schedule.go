package observed

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// Schedule has the facts about one PgScheduledBenchmark.
type Schedule struct {
	// Benchmarks are all of its namespace.
	Benchmarks []*v1alpha1.PgBenchmark
	// Refusal is why the API server rejected the PgBenchmark that is due, or "".
	Refusal string
}
