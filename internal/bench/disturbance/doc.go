// Package disturbance has what disturbed a run of pgbench, and when. An observer saw it, or the
// rate itself shows it.
package disturbance
