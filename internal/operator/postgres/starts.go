package postgres

import "slices"

// unsettable parameters belong to one session or transaction: in postgresql.conf they
// keep Postgres from starting.
var unsettable = []string{"transaction_isolation", "transaction_read_only", "transaction_deferrable", "seed", "is_superuser", "role", "session_authorization"}

// startless refuses numbers and words that pg_settings allows and with which Postgres
// does not start all the same. bytes is the value in bytes, or as a plain number.
func (in Inputs) startless(name, value string, bytes float64) *Refusal {
	switch {
	case name == "max_stack_depth" && bytes > float64(7680*kB):
		return refuse(name, RefusedRange, "%s is above what the stack of a container allows, and Postgres would not start; use at most 7680kB", value)
	case slices.Contains(slru, name) && int64(bytes)%(16*8192) != 0:
		return refuse(name, RefusedRange, "%s is not a multiple of 16 pages, and Postgres would not start; use a multiple of 128kB", value)
	case name == "vacuum_buffer_usage_limit" && bytes > 0 && bytes < float64(128*kB):
		return refuse(name, RefusedRange, "%s is between 0 and 128kB, and Postgres would not start; use 0, or at least 128kB", value)
	case name == "io_method" && value == "io_uring":
		return refuse(name, RefusedRange, "the seccomp profile of containers forbids io_uring, and Postgres would not start; use worker or sync")
	}
	return nil
}
