// Package runner carries out a benchmark beside pgbench in a container of
// Postgres: it fills the tables, warms up, measures, checks what is left, and
// reports all along.
//
// It works in the benchmark's own database only and refuses any other, and the
// connection and the passwords come from the environment: PGHOST, PGPORT, PGUSER,
// PGPASSWORD, PGDATABASE and what else libpq reads.
package runner
