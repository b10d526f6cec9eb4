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

// AddRejected adds the outcome where the API server rejects an object of a stage. If the
// condition already needs a user's action, its outcome stays and gets the API server's words.
func AddRejected(outcomes *outcome.Set, stage plan.Stage, err error) {
	o := rejected(stage, err)
	if have, found := outcomes.Get(o.Condition); found && have.Kind == outcome.Invalid && stage.Alone() {
		have.Message += "; " + o.Message
		o = have
	}
	outcomes.Add(o)
}

// rejected returns the outcome of one rejection. A database is Ready without a backup, a
// PodMonitor, a benchmark or the watcher of other sites. Ready includes read pools.
func rejected(stage plan.Stage, err error) outcome.Outcome {
	o := outcome.InvalidBecause(v1alpha1.ConditionDatabaseReady, v1alpha1.ReasonRejected, fmt.Sprintf(msgRejected, err))
	switch stage {
	case plan.StageBackups:
		o.Condition = v1alpha1.ConditionBackedUp
	case plan.StageReadPools:
		o.Condition = v1alpha1.ConditionReadPoolsReady
	case plan.StageSites:
		o.Condition, o.Unknown = v1alpha1.ConditionSitesAgree, true
	case plan.StageMonitors:
		o.Condition = v1alpha1.ConditionMonitored
	case plan.StageInlineBenchmark:
		o.Condition = v1alpha1.ConditionBenchmarkComplete
	}
	o.Informative = stage.Alone() && stage != plan.StageReadPools
	return o
}
