package pgstorageprofile

import (
	"fmt"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

// The conditions that the controller itself decides. Those of a kind of storage are in its
// own package.

func unknownType(err error) outcome.Outcome {
	return outcome.InvalidBecause(v1alpha1.ConditionStorageReady, v1alpha1.ReasonInvalidSpec, err.Error())
}

func disabledType(p *v1alpha1.PgStorageProfile) outcome.Outcome {
	return outcome.InvalidBecause(v1alpha1.ConditionStorageReady, v1alpha1.ReasonInvalidSpec,
		fmt.Sprintf("spec.type: %[1]s is alpha; to try it, start the manager with --feature-gates=%[1]s=true, or use another type", p.Spec.Type))
}

func inUse(clusters []string) string {
	return "deletion waits for the PgStorageClusters that use this profile: " + strings.Join(clusters, ", ")
}

func agentsRelease(nodes []string) string {
	return "deletion waits for the agents of these nodes to let go of their pools, which stay: " + strings.Join(nodes, ", ")
}

func objectsEnd(kind string, names []string) string {
	return fmt.Sprintf("deletion waits for the end of %s %s", kind, strings.Join(names, ", "))
}
