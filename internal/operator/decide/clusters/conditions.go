package clusters

import (
	"slices"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// AllOutcomes are all conditions of a PgStorageCluster, from the facts of the pass.
func (c *Cluster) AllOutcomes(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) []outcome.Outcome {
	out := slices.Clone(c.Outcomes)
	database := c.databaseOutcome(cr, facts)
	out = append(out, database)
	if o := attachedOutcome(cr, facts); o != nil {
		out = append(out, *o)
	}
	if facts.Cluster != nil && c.verified != nil {
		out = append(out, *c.verified)
	}
	if facts.Cluster != nil {
		out = append(out, appliedOutcome(cr, c.Parameters, facts.ReadBack, database), groundsOf(cr, facts).outcome(cr))
	}
	out = append(out, MonitoredOutcome(cr, facts))
	if o := metadataOutcome(cr); o != nil {
		out = append(out, *o)
	}
	if cr.Spec.Benchmark != nil {
		out = append(out, benchmarkOutcome(facts.Benchmark, database))
	}
	return out
}
