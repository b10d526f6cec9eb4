// Package record is what the runs of one PgBenchmark left: figures, seconds,
// latencies, what was observed beside them and the settings that they ran on.
//
// It is kept in a ConfigMap, as gzip of JSON, because a status is read with every
// list. Whoever may write that ConfigMap may have written anything: it is bounded
// before it is unpacked.
package record
