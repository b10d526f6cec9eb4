// Package benchmarks decides what follows from a PgBenchmark of one run: the objects to
// apply, the status and the conditions. It is pure. Package matrices decides about a
// PgBenchmark with a matrix.
//
// Build returns the plan until the Job exists. Completion, Integrity, Believable and
// Layers say what the Job and its runner report. The texts of the conditions are in
// messages.go.
package benchmarks
