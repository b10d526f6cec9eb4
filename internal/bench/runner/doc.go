// Package runner executes a benchmark with pgbench in a container of Postgres. It fills the
// tables, warms up, measures, checks the integrity of the data, and reports progress.
//
// It works only in the benchmark's own database and rejects any other. Connection and passwords
// come from the environment: PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE and the other
// variables of libpq.
package runner
