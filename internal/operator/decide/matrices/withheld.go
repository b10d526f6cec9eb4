package matrices

import (
	"fmt"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

// Withheld decides about a matrix that needs temporary clusters while the manager runs
// without MatrixClusters. It creates and deletes nothing: existing runs and clusters stay
// until the feature is enabled again.
func Withheld(b *v1alpha1.PgBenchmark) Decision {
	s := *b.Status.DeepCopy()
	s.Run, s.ObservedGeneration = nil, b.Generation
	if s.Phase == "" {
		s.Phase = v1alpha1.PhasePending
	}
	return Decision{Status: s, Outcomes: outcome.NewSet(
		outcome.InvalidBecause(v1alpha1.ConditionComplete, v1alpha1.ReasonInvalidSpec, fmt.Sprintf(msgWithheld, msgEnableClusters)),
	)}
}

// Deleting decides about a deleted matrix whose runs and clusters still exist. abandoned
// are the clusters that the manager is not allowed to delete.
func Deleting(b *v1alpha1.PgBenchmark, abandoned []*v1alpha1.PgStorageCluster) Decision {
	s := *b.Status.DeepCopy()
	s.Run = nil
	message := msgDeleting
	if len(abandoned) > 0 {
		var names []string
		for _, c := range abandoned {
			names = append(names, c.Name)
		}
		message = fmt.Sprintf(msgAbandoned, strings.Join(names, ", "), msgEnableClusters)
	}
	return Decision{Status: s, Outcomes: outcome.NewSet(outcome.WaitFor(v1alpha1.ConditionCleanedUp, v1alpha1.ReasonDeleting, message))}
}
