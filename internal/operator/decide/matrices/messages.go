package matrices

// The texts of the conditions of a matrix, by condition.
const (
	// CleanedUp.
	msgDeleting  = "Waiting for the runs and clusters of the matrix to be deleted"
	msgAbandoned = "the matrix created these PgStorageClusters, and the manager is not allowed to delete them: %s; %s, or delete them yourself"

	// Complete.
	msgWithheld       = "spec.template: temporary clusters are alpha; to try them, %s, or name a cluster in spec.cluster"
	msgEnableClusters = "start the manager with --feature-gates=MatrixClusters=true and the right to create PgStorageClusters (chart: matrixClusters.enabled=true)"
)

// TargetReady.
const (
	msgProceeding     = "the next run can be measured, or its cluster is being created"
	msgTargetNotFound = "spec.cluster: PgStorageCluster %s does not exist in namespace %s; create it, or choose one from kubectl -n %s get pgsc"
	msgTargetNotReady = "Waiting for PgStorageCluster %s to be Ready"
)

// Complete.
const (
	msgRunDeleted      = "%s: PgBenchmark %s was deleted before it ended; it is created again after that"
	msgNoJob           = "no Job within %v: %s"
	msgRunRejected     = "the API server rejects it: "
	msgResting         = "%s: rests %s after the previous run"
	msgClusterForeign  = "PgStorageCluster %s exists and does not belong to this benchmark"
	msgClusterCreating = "%s: PgStorageCluster %s is being created"
	msgClusterLate     = "PgStorageCluster %s was not Ready within %v: %s"
	msgClusterNotReady = "%s: waiting for PgStorageCluster %s to be Ready"
	msgRunForeign      = "PgBenchmark %s exists and does not belong to this matrix"
	msgNotReconciled   = "the operator has not reconciled it yet"
	msgBudgetSpent     = ", %d not started, because the next round would exceed spec.matrix.totalTimeout of %s"
)

// CleanedUp.
const (
	msgCleanedUp      = "the clusters of the runs are deleted"
	msgClusterRemoved = "waiting for PgStorageCluster %s, whose runs have ended, to be deleted"
	msgRunRemoved     = "waiting for the objects of PgBenchmark %s to be deleted"
	msgKeptClusters   = "these PgStorageClusters stay until this PgBenchmark is deleted, because of spec.pgbench.cleanup or because a check found damage: %s"
	msgKeptRuns       = "spec.pgbench.cleanup is %s: the objects of the runs stay until you delete the runs"
)

// IntegrityVerified.
const (
	msgNoCheckRun        = "no run reached its checks"
	msgIntegrityVerified = "no check after a run failed; status.run.integrity of each run's PgBenchmark lists the checks"
)

// Believable.
const (
	msgNothingToCheck = "no run has ended that could be checked"
	msgNotRejected    = "no check rejects a run or cautions against it; status.run.results of each run's PgBenchmark lists the checks"
	msgAllRejected    = "every run of %d of %d variants is rejected, and these have no figure: %s; see status.run.results of the runs' PgBenchmarks for the causes"
	msgSomeRejected   = "every variant that succeeded has runs that no check rejects; %d of %d runs are rejected and excluded; cautions: %s"
)

// NotRegressed.
const (
	msgBaselineNotFound = "spec.gate.baseline: PgBenchmark %s does not exist in namespace %s; see kubectl -n %s get pgb"
	msgBaselineNoMatrix = "spec.gate.baseline: PgBenchmark %s has no matrix, so its figure has no interval; create another PgBenchmark with a baseline that has one"
	msgBaselineNotEnded = "spec.gate.baseline: PgBenchmark %s has not ended"
	msgBound            = "by %d%% or more, with %d%% confidence"
	msgRegressed        = "%d of %d variants are worse than %s %s: %s"
	msgNotComparable    = "%d of %d variants cannot be compared with %s: %s"
	msgNotRegressed     = "no variant is shown to be worse than %s %s; this is excluded for %d of %d variants. The others have too few figures to exclude it"
	msgSettingsDiffer   = "; the server's settings differ from the baseline for "
)
