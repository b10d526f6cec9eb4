package benchmarks

// What CleanedUp waits for.
const (
	WaitsForSuperuser = "Waiting for CloudNativePG to drop the superuser that observed the server"
	WaitsForJob       = "Waiting for the Job to be deleted"
	WaitsForDatabase  = "Waiting for CloudNativePG to drop the benchmark's database"
	WaitsForRole      = "Waiting for CloudNativePG to drop the benchmark's role"
)

// The texts of a benchmark's conditions, by condition.
const (
	// TargetReady.
	msgStarted = "the benchmark was started"

	// Complete.
	msgRejected = "the API server rejects what the benchmark needs: %v"

	// CleanedUp. SuperuserRemoved recognises msgSuperuserGone in a status, so it must not
	// change.
	msgCleanedUp     = "Job, database and roles are gone"
	msgKept          = "spec.pgbench.cleanup is %s: Job, database and its owner stay until this PgBenchmark is deleted; %s"
	msgSuperuserGone = "the superuser that observed the server is gone"
)
