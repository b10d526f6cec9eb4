// Package report makes a report of a PgBenchmark: of the records that its runs
// left, and where one is missing of what the status says, which the report then
// tells. It is pure.
package report
