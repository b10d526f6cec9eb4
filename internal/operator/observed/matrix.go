package observed

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// Matrix is what was seen about a PgBenchmark with a matrix.
type Matrix struct {
	// Benchmarks and Clusters of its namespace. Which are its own, their names and
	// owners say.
	Benchmarks []*v1alpha1.PgBenchmark
	Clusters   []*v1alpha1.PgStorageCluster
	// Refusal is why the API server refused what the next run needs, as it would
	// again; empty where it did not.
	Refusal string
}
