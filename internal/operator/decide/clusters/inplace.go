package clusters

import (
	"fmt"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
)

// inPlace proves that no instance has to return by pg_rewind: one that does is not
// ready until it has. The phase in which CloudNativePG applies a configuration is
// not waited for, because what follows from this proof causes it.
func inPlace(cr *v1alpha1.PgStorageCluster, cluster *cnpgv1.Cluster) postgres.Proof {
	wanted := int(Instances(cr))
	out := postgres.Proof{Possible: true, Because: fmt.Sprintf("%d of %d instances are ready", wanted, wanted)}
	if cluster == nil {
		out.Missing = "the database does not exist yet"
		return out
	}
	s := cluster.Status
	switch {
	case s.Instances > wanted:
		out.Missing = fmt.Sprintf("there are %d instances, and spec.instances is %d", s.Instances, wanted)
	case s.Instances < wanted || s.ReadyInstances != wanted:
		out.Missing = fmt.Sprintf("%d of %d instances are ready", s.ReadyInstances, wanted)
	case s.CurrentPrimary == "":
		out.Missing = "CloudNativePG names no primary"
	case s.CurrentPrimary != s.TargetPrimary:
		out.Missing = fmt.Sprintf("the primary is changing from %s to %s", s.CurrentPrimary, s.TargetPrimary)
	case s.Phase == cnpgv1.PhaseFailOver || s.Phase == cnpgv1.PhaseSwitchover:
		out.Missing = "CloudNativePG: " + s.Phase
	}
	return out
}
