package clusters

import (
	"maps"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
)

// metadataOutcome says which annotations reach the CloudNativePG Cluster. It is nil
// for an object without any that CloudNativePG knows.
func metadataOutcome(cr *v1alpha1.PgStorageCluster) *outcome.Outcome {
	const c = v1alpha1.ConditionAnnotationsForwarded
	var out outcome.Outcome
	passed, held := cnpg.ForwardedAnnotations(cr), cnpg.NotForwarded(cr)
	switch {
	case len(held) > 0:
		out = outcome.WaitFor(c, v1alpha1.ReasonNotForwarded, strings.Join(held, "; "))
	case len(passed) > 0:
		out = outcome.DoneWith(c, v1alpha1.ReasonForwarded, "the CloudNativePG Cluster gets "+strings.Join(slices.Sorted(maps.Keys(passed)), ", "))
	default:
		return nil
	}
	out.Informative = true
	return &out
}
