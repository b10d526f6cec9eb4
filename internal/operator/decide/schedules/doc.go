// Package schedules says what follows from a PgScheduledBenchmark, from the PgBenchmarks
// of its namespace and from the time: whether a run is to be made, which ones are no
// longer kept, and what the status says. It is pure.
//
// The name of a run follows from the time that it is due, so that none is made twice,
// whatever was interrupted: the API server refuses the second one.
package schedules
