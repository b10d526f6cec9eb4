package clusters

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// DeletionSuspended returns DatabaseReady of a deleted PgStorageCluster that is suspended.
func DeletionSuspended() outcome.Outcome {
	return outcome.WaitFor(v1alpha1.ConditionDatabaseReady, v1alpha1.ReasonSuspended, msgDeletionSuspended)
}

// Deleting returns DatabaseReady of a deleted PgStorageCluster whose Cluster still exists.
func Deleting() outcome.Outcome {
	return outcome.WaitFor(v1alpha1.ConditionDatabaseReady, v1alpha1.ReasonDeleting, msgDeleting)
}

// DeletingPools returns ReadPoolsReady of a deleted PgStorageCluster whose read pools still
// exist.
func DeletingPools(facts observed.Cluster, config Config) outcome.Outcome {
	if !config.ReadPools {
		return outcome.InvalidBecause(v1alpha1.ConditionReadPoolsReady, v1alpha1.ReasonInvalidSpec, msgPoolsOff)
	}
	return outcome.WaitFor(v1alpha1.ConditionReadPoolsReady, v1alpha1.ReasonDeleting, fmt.Sprintf(msgDeletingPools, strings.Join(slices.Sorted(maps.Keys(facts.Pools)), ", ")))
}
