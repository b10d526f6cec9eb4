// Package matrices says what follows from a PgBenchmark with a matrix, from its single
// runs, which are PgBenchmarks of their own, and from its clusters: what is to be
// made, what is no longer needed, and what the status says. It is pure.
//
// A run that has ended is recorded in the status of the matrix, and a record stands.
// A run without a record is the PgBenchmark of its name, where there is one, or is
// still to be made. So whatever was interrupted, none is lost or counted twice.
package matrices
