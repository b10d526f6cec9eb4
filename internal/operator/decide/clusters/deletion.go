package clusters

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

// DeletionSuspended returns DatabaseReady of a deleted PgStorageCluster that is suspended.
func DeletionSuspended() outcome.Outcome {
	return outcome.WaitFor(v1alpha1.ConditionDatabaseReady, v1alpha1.ReasonSuspended, msgDeletionSuspended)
}

// Deleting returns DatabaseReady of a deleted PgStorageCluster whose Cluster still exists.
func Deleting() outcome.Outcome {
	return outcome.WaitFor(v1alpha1.ConditionDatabaseReady, v1alpha1.ReasonDeleting, msgDeleting)
}
