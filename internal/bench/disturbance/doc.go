// Package disturbance has what disturbed a run of pgbench while it ran, with the time at which
// it did: what an observer saw, and what the rate itself shows.
package disturbance
