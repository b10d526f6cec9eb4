package pgstoragecluster

import (
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

// A database that is not healthy is looked at again without an event, whatever the cause.
func TestUnhealthyDatabaseIsLookedAtAgain(t *testing.T) {
	for _, reason := range []string{v1alpha1.ReasonClusterNotHealthy, v1alpha1.ReasonDiskFull, v1alpha1.ReasonVolumesPending} {
		if after := (&Reconciler{}).recheck(&pass{}, outcome.WaitFor(v1alpha1.ConditionDatabaseReady, reason, "")); after == 0 {
			t.Errorf("%s: never", reason)
		}
	}
}
