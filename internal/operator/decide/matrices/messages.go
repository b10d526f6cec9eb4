package matrices

// The texts of a matrix' conditions, by condition.
const (
	// CleanedUp.
	msgDeleting  = "Waiting for the runs and clusters of the matrix to be deleted"
	msgAbandoned = "the matrix created these PgStorageClusters, and the manager is not allowed to delete them: %s; %s, or delete them yourself"

	// Complete.
	msgWithheld       = "spec.template: temporary clusters are alpha; to try them, %s, or name a cluster in spec.cluster"
	msgEnableClusters = "start the manager with --feature-gates=MatrixClusters=true and the right to create PgStorageClusters (chart: matrixClusters.enabled=true)"
)
