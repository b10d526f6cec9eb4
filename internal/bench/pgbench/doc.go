// Package pgbench speaks pgbench's language: it builds its arguments and reads
// its report, its progress and its transaction logs, of PostgreSQL 14 to 18
// (https://www.postgresql.org/docs/current/pgbench.html). It runs nothing.
//
// Percentiles come from HdrHistogram: a log of any length is read in constant
// memory, with an error of at most 0.1% of the value at every percentile, where
// an exact quantile would need every latency in memory at once.
package pgbench
