// Package pgbench builds pgbench's arguments and reads its report, its progress and its
// transaction logs, of PostgreSQL 14 to 18
// (https://www.postgresql.org/docs/current/pgbench.html). It runs nothing.
//
// Percentiles come from HdrHistogram. It reads a log of any length in constant memory, with an
// error of at most 0.1% of the value at every percentile. An exact quantile would need every
// latency in memory at once.
package pgbench
