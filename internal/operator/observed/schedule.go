package observed

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// Schedule is what was seen about a PgScheduledBenchmark.
type Schedule struct {
	// Benchmarks of its namespace, its own among them.
	Benchmarks []*v1alpha1.PgBenchmark
	// Refusal of the run that is due by the API server, in words, or "".
	Refusal string
}
