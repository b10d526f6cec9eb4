package schedules

// The texts of a schedule's conditions, by condition.

// Scheduled.
const (
	msgNoTime    = "spec.schedule: %q has no time within five years; choose a day that exists"
	msgSuspended = "spec.suspend is true: no run starts"
	msgScheduled = "runs start at %s in %s"
)

// OnTime.
const (
	msgPreviousRunning = "the run due at %s is waiting for PgBenchmark %s to end"
	msgOnTime          = "no run is late"
	msgMissed          = "the run due at %s did not start within spec.startingDeadlineSeconds of %d%s"
	msgRejected        = "the API server rejects the run due at %s: %s; the operator tries again at the next time"
)

// NotRegressed and LastRunSucceeded.
const (
	msgNotRun = "no run has ended that reports it"
)
