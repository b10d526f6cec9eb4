// Package record is the record of the runs of one PgBenchmark. It has figures, seconds and
// latencies, what was observed beside them, and the settings that they ran on.
//
// A ConfigMap keeps it, as gzip of JSON, because a status is read with every list. A user who
// may write that ConfigMap may have written anything. The package checks its bounds before it
// unpacks it.
package record
