package clusters

// The texts of a PgStorageCluster's conditions, by condition.
const (
	// DatabaseReady.
	msgRejected          = "the API server rejects an object built from this spec: %v"
	msgDeletionSuspended = "the deletion waits because spec.suspend is true; set it to false to continue"
	msgDeleting          = "Waiting for the CloudNativePG Cluster to be deleted"
)
