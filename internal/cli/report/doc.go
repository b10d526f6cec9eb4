// Package report assembles the report on a PgBenchmark from the records of its runs.
// Where a record is missing it uses the status, and the report says so. It is pure.
package report
