package benchmarks

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// space of the target's volumes: as its claims have it, and before they do as its spec
// asks for it. Nil where there is no target.
func space(facts observed.Benchmark) *spec.Space {
	if facts.Target == nil {
		return nil
	}
	out := &spec.Space{DataBytes: facts.Volumes.Data, WALBytes: facts.Volumes.WAL}
	asked := facts.Target.Spec.Storage
	if out.DataBytes == 0 {
		out.DataBytes = asked.Size.Value()
	}
	if out.WALBytes == 0 && asked.WALSize != nil {
		out.WALBytes = asked.WALSize.Value()
	}
	return out
}

// roomOutcome refuses tables that could not fit the volumes of the target if nothing
// else was on them. What else is on them, the runner sees.
func roomOutcome(b *v1alpha1.PgBenchmark, facts observed.Benchmark) outcome.Outcome {
	if lacks := space(facts).Refuse(b.Spec.Pgbench.Scale); lacks != "" {
		return outcome.InvalidBecause(v1alpha1.ConditionTargetReady, v1alpha1.ReasonNotEnoughSpace, lacks+"; then create another PgBenchmark")
	}
	return measurable(b)
}

func targetOutcome(b *v1alpha1.PgBenchmark, facts observed.Benchmark) outcome.Outcome {
	const c = v1alpha1.ConditionTargetReady
	if facts.Target == nil {
		return outcome.WaitFor(c, v1alpha1.ReasonClusterNotFound, fmt.Sprintf(msgTargetNotFound, b.Spec.Cluster, b.Namespace, b.Namespace))
	}
	if text := unsuitable(b, facts.Target); text != "" {
		return outcome.InvalidBecause(c, v1alpha1.ReasonInvalidSpec, text)
	}
	if o := admitted(b, facts.Target); o.Kind != outcome.Done && facts.Job == nil {
		return o
	}
	if o := clusters.BenchmarkOutcome(facts.ForeignAPIs); o.Kind != outcome.Done {
		return outcome.WaitFor(c, o.Reason, o.Message)
	}
	if len(facts.MissingScripts) > 0 {
		return outcome.WaitFor(c, v1alpha1.ReasonScriptNotFound, "spec.pgbench.customScripts: not found: "+strings.Join(facts.MissingScripts, ", ")+"; create the ConfigMap with that key")
	}
	if len(facts.RefusedScripts) > 0 {
		return outcome.InvalidBecause(c, v1alpha1.ReasonInvalidSpec, "spec.pgbench.customScripts: "+strings.Join(facts.RefusedScripts, "; ")+"; then create another PgBenchmark")
	}
	if facts.Job == nil {
		return turnOutcome(b, facts)
	}
	return measurable(b)
}

// unsuitable says why a benchmark can never run on its target; empty if it can.
func unsuitable(b *v1alpha1.PgBenchmark, target *v1alpha1.PgStorageCluster) string {
	if of := target.Spec.Follow; of != nil {
		return fmt.Sprintf(msgFollower, b.Spec.Cluster, of.Cluster, of.Cluster)
	}
	if b.Spec.Pgbench.ColdCache && !ofMatrix(target) {
		return fmt.Sprintf(msgColdCache, b.Spec.Cluster)
	}
	return ""
}

// turnOutcome of a benchmark that has not begun.
func turnOutcome(b *v1alpha1.PgBenchmark, facts observed.Benchmark) outcome.Outcome {
	const c = v1alpha1.ConditionTargetReady
	ready := meta.FindStatusCondition(facts.Target.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Status != "True" || ready.ObservedGeneration != facts.Target.Generation || facts.Image == "" {
		return outcome.WaitFor(c, v1alpha1.ReasonTargetNotReady, fmt.Sprintf(msgTargetNotReady, b.Spec.Cluster))
	}
	if t := facts.Target.Status.Topology; t != nil && t.Role != v1alpha1.SiteWrites {
		return outcome.WaitFor(c, v1alpha1.ReasonTargetNotReady, fmt.Sprintf(msgTargetFollows, b.Spec.Cluster))
	}
	if facts.Before != "" {
		return outcome.WaitFor(c, v1alpha1.ReasonWaitingForTurn, fmt.Sprintf(msgWaitingForTurn, facts.Before))
	}
	return roomOutcome(b, facts)
}

func measurable(b *v1alpha1.PgBenchmark) outcome.Outcome {
	return outcome.DoneWith(v1alpha1.ConditionTargetReady, v1alpha1.ReasonReady, fmt.Sprintf(msgMeasurable, b.Spec.Cluster))
}
