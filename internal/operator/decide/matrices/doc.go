// Package matrices decides what to create, what to delete, and the status of a
// PgBenchmark with a matrix. It decides from the matrix, from its runs, which are
// PgBenchmarks themselves, and from its clusters. It is pure.
//
// The status records every run that has ended, and a record is never changed. A run
// without a record is the PgBenchmark of its name, or is still to be created. So an
// interruption neither loses a run nor counts it twice.
package matrices
