package clusters

import (
	"fmt"
	"slices"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// AllOutcomes returns the outcomes of every condition of a PgStorageCluster.
func (c *Cluster) AllOutcomes(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) outcome.Set {
	out := slices.Clone(c.Outcomes)
	database := c.databaseOutcome(cr, facts)
	if Follows(cr) {
		database = withheld(cr, facts, database)
	}
	out.Add(database)
	if o := attachedOutcome(cr, facts); o != nil {
		out.Add(*o)
	}
	if facts.Cluster != nil {
		if c.verified != nil {
			out.Add(*c.verified)
		}
		out.Add(appliedOutcome(cr, c.Parameters, facts.ReadBack, database), groundsOf(cr, facts).outcome(cr))
		if o := probesOutcome(cr, facts, database); o != nil {
			out.Add(*o)
		}
	}
	if o := followersCaughtUp(cr, facts); o != nil {
		out.Add(*o)
	}
	out.Add(backups(cr, facts, c.snapshots)...)
	out.Add(MonitoredOutcome(cr, facts))
	if o := metadataOutcome(cr); o != nil {
		out.Add(*o)
	}
	if cr.Spec.Benchmark != nil {
		out.Add(benchmarkOutcome(facts.Benchmark, database))
	}
	return out
}

// Rejected is the outcome where the API server rejects an object of a stage. A database
// is Ready without a backup or a PodMonitor.
func Rejected(stage plan.Stage, err error) outcome.Outcome {
	o := outcome.InvalidBecause(v1alpha1.ConditionDatabaseReady, v1alpha1.ReasonRejected, fmt.Sprintf(msgRejected, err))
	switch stage {
	case plan.StageBackups:
		o.Condition = v1alpha1.ConditionBackedUp
	case plan.StageMonitors:
		o.Condition = v1alpha1.ConditionMonitored
	}
	o.Informative = stage.Alone()
	return o
}
