package benchmarks

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/pgbench"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// space of a cluster's volumes: as its claims have it, and before they do as its spec
// asks for it. Nil where there is no cluster.
func space(cr *v1alpha1.PgStorageCluster, volumes observed.Volumes) *spec.Space {
	if cr == nil {
		return nil
	}
	out := &spec.Space{DataBytes: volumes.Data, WALBytes: volumes.WAL}
	asked := cr.Spec.Storage
	if out.DataBytes == 0 {
		out.DataBytes = asked.Size.Value()
	}
	if out.WALBytes == 0 && asked.WALSize != nil {
		out.WALBytes = asked.WALSize.Value()
	}
	return out
}

// roomOutcome refuses tables that could not fit the volumes of the target, or of its source,
// if nothing else was on them. What else is on them, the runner sees.
func roomOutcome(b *v1alpha1.PgBenchmark, facts observed.Benchmark) outcome.Outcome {
	lacks := space(facts.Target, facts.Volumes).Refuse(b.Spec.Pgbench.Scale)
	if lacks == "" && facts.Source != nil {
		lacks = space(facts.Source, facts.SourceVolumes).Refuse(b.Spec.Pgbench.Scale)
		if lacks != "" {
			lacks += fmt.Sprintf(msgSourceSpace, facts.Source.Name)
		}
	}
	if lacks != "" {
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
	if o := admitted(b, facts); o.Kind != outcome.Done && facts.Job == nil {
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
	source := pgbench.Source(target)
	if b.Spec.Pgbench.ColdCache && (source != "" || !ofMatrix(target)) {
		return fmt.Sprintf(msgColdCache, b.Spec.Cluster)
	}
	if source == "" {
		return ""
	}
	follower := fmt.Sprintf(msgFollower, b.Spec.Cluster, source)
	switch {
	case len(b.Spec.Pgbench.CustomScripts) > 0:
		return "spec.pgbench.customScripts: " + follower + fmt.Sprintf(msgFollowerScripts, source)
	case b.Spec.Pgbench.Script != v1alpha1.ScriptSelectOnly:
		return "spec.pgbench.script: " + follower + fmt.Sprintf(msgFollowerScript, source)
	case b.Spec.Layers != nil:
		return "spec.layers: " + follower + fmt.Sprintf(msgFollowerLayers, source)
	}
	return ""
}

// turnOutcome of a benchmark that has not begun.
func turnOutcome(b *v1alpha1.PgBenchmark, facts observed.Benchmark) outcome.Outcome {
	const c = v1alpha1.ConditionTargetReady
	if facts.Image == "" {
		return outcome.WaitFor(c, v1alpha1.ReasonTargetNotReady, fmt.Sprintf(msgTargetNotReady, b.Spec.Cluster))
	}
	for _, cr := range []*v1alpha1.PgStorageCluster{facts.Target, facts.Source} {
		if text := notReady(cr); text != "" {
			return outcome.WaitFor(c, v1alpha1.ReasonTargetNotReady, text)
		}
	}
	if facts.Before != "" {
		return outcome.WaitFor(c, v1alpha1.ReasonWaitingForTurn, fmt.Sprintf(msgWaitingForTurn, facts.Before))
	}
	return roomOutcome(b, facts)
}

// notReady says why a cluster cannot take a benchmark now; empty if it can, or if there is no
// cluster.
func notReady(cr *v1alpha1.PgStorageCluster) string {
	if cr == nil {
		return ""
	}
	ready := meta.FindStatusCondition(cr.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != cr.Generation {
		return fmt.Sprintf(msgTargetNotReady, cr.Name)
	}
	if t := cr.Status.Topology; t != nil && t.Role != v1alpha1.SiteWrites {
		return fmt.Sprintf(msgTargetFollows, cr.Name)
	}
	return ""
}

func measurable(b *v1alpha1.PgBenchmark) outcome.Outcome {
	return outcome.DoneWith(v1alpha1.ConditionTargetReady, v1alpha1.ReasonReady, fmt.Sprintf(msgMeasurable, b.Spec.Cluster))
}
