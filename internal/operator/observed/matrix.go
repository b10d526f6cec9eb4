package observed

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// Matrix has the facts about one PgBenchmark with a matrix.
type Matrix struct {
	// Benchmarks and Clusters are all of its namespace. Their names and owners identify
	// those of the matrix.
	Benchmarks []*v1alpha1.PgBenchmark
	Clusters   []*v1alpha1.PgStorageCluster
	// Refusal is why the API server rejected an object of the next run, or "". It would
	// reject the same object again.
	Refusal string
}
