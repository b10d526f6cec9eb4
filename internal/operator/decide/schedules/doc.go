// Package schedules decides what follows from a PgScheduledBenchmark at a time: whether
// to create a PgBenchmark, which ones to prune, and the status. It is pure.
//
// The name of a PgBenchmark follows from the time at which it is due. The API server
// therefore refuses a second one for the same time, whatever was interrupted.
package schedules
