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

// TargetReady.
const (
	msgTargetNotFound  = "spec.cluster: PgStorageCluster %s does not exist in namespace %s; create it, or choose one from kubectl -n %s get pgsc"
	msgColdCache       = "spec.pgbench.coldCache empties the caches of the server. It is allowed only on temporary clusters of a matrix, and PgStorageCluster %s is not one. Remove it, or set spec.template and spec.matrix in place of spec.cluster"
	msgFollower        = "PgStorageCluster %s follows %s and takes no writes"
	msgFollowerScript  = "; set SelectOnly, or measure %s"
	msgFollowerScripts = ", which a custom script may contain; remove them and set spec.pgbench.script to SelectOnly, or measure %s"
	msgFollowerLayers  = ", by which layers are measured; remove spec.layers, or measure %s"
	msgSourceNotFound  = "PgStorageCluster %s, which %s follows, does not exist; a benchmark loads its tables there"
	msgSourceSpace     = ", which is %s, where the tables are loaded"
	msgTargetFollows   = "Waiting for PgStorageCluster %s to be the site that writes"
	msgTargetNotReady  = "Waiting for PgStorageCluster %s to be Ready"
	msgWaitingForTurn  = "Waiting for PgBenchmark %s: only one benchmark at a time runs against a cluster"
	msgMeasurable      = "PgStorageCluster %s can be measured"
	msgConsentRequired = "PgStorageCluster %s does not admit this benchmark, because its spec.benchmarkPolicy is Own; to admit every PgBenchmark of the namespace, change the cluster: %s"
)

// Complete.
const (
	msgJobCreating   = "the Job is being created"
	msgJobFailed     = "Job %s failed without a result: %s; see kubectl -n %s logs job/%s, and create another PgBenchmark to run it again"
	msgJobDeleted    = "Job %s was deleted before it had a result; create another PgBenchmark to run it again"
	msgResultLost    = "Job %s ended and its result never arrived; see kubectl -n %s logs job/%s"
	msgPodNotStarted = "Waiting for the runner's pod to start; see kubectl -n %s describe job %s"
	msgApplying      = "Waiting for CloudNativePG to create "
)

// Believable.
const (
	msgNothingToCheck = "no run has ended that could be checked"
	msgNotRejected    = "no check rejects the figures"
	msgSomeRejected   = "no check rejects the figures, which exclude %d rejected runs"
	msgChecksNotRun   = "; not run, because their data was not observed: "
)

// IntegrityVerified.
const (
	msgIntegrityFailed = "; keep the cluster's volumes and investigate the storage"
	msgNoCheckRun      = "no check was run: "
)

// LayersMeasured.
const (
	msgLayersNotReached = "the benchmark ended before its layers were measured"
	msgRunnerSilent     = "the runner has reported nothing"
)
