package clusters

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	apiac "github.com/pgstorage/pgstorage/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/monitoring"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// inlineBenchmark is the PgBenchmark of a cluster's own benchmark.
func inlineBenchmark(cr *v1alpha1.PgStorageCluster) (*apiac.PgBenchmarkApplyConfiguration, error) {
	spec := apiac.PgbenchSpec()
	if err := plan.Convert(cr.Spec.Benchmark.PgbenchSpec, spec); err != nil {
		return nil, fmt.Errorf("spec.benchmark: %w", err)
	}
	return apiac.PgBenchmark(BenchmarkName(cr), cr.Namespace).
		WithLabels(naming.Labels(cr.Name)).
		WithOwnerReferences(plan.ControllerReference("PgStorageCluster", cr)).
		WithSpec(apiac.PgBenchmarkSpec().WithCluster(cr.Name).WithPgbench(spec)), nil
}

func addCompanions(p *plan.Plan, cr *v1alpha1.PgStorageCluster, facts observed.Cluster, config Config) error {
	if cr.Spec.Monitoring == nil || cr.Spec.Monitoring.PodMonitor != v1alpha1.PodMonitorDisabled {
		o, err := plan.FromApply(plan.StageMonitors, monitoring.PodMonitor(cr, metricsTLS(p), config.PodMonitorLabels))
		if err != nil {
			return err
		}
		p.Add(o)
		if o := MonitoredOutcome(cr, facts); o.Reason == v1alpha1.ReasonCRDNotInstalled || o.Kind == outcome.Invalid {
			p.AddGate(plan.StageMonitors, o.Reason, o.Message)
		}
	}
	if cr.Spec.Benchmark == nil {
		return nil
	}
	benchmark, err := inlineBenchmark(cr)
	if err != nil {
		return err
	}
	o, err := plan.FromApply(plan.StageInlineBenchmark, benchmark)
	if err != nil {
		return err
	}
	p.Add(o)
	return nil
}

// metricsTLS says whether the database of the plan serves its metrics over TLS,
// which only an override can ask for.
func metricsTLS(p *plan.Plan) bool {
	for _, o := range p.Objects {
		if enabled, found, err := unstructured.NestedBool(o.Content.Object, "spec", "monitoring", "tls", "enabled"); err == nil && found {
			return enabled
		}
	}
	return false
}

// MonitoredOutcome says whether a PodMonitor can be made.
func MonitoredOutcome(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) outcome.Outcome {
	o := outcome.DoneWith(v1alpha1.ConditionMonitored, v1alpha1.ReasonPodMonitorApplied, fmt.Sprintf(msgPodMonitorApplied, cr.Name))
	switch {
	case cr.Spec.Monitoring != nil && cr.Spec.Monitoring.PodMonitor == v1alpha1.PodMonitorDisabled:
		o = outcome.WaitFor(o.Condition, v1alpha1.ReasonDisabled, msgPodMonitorDisabled)
	case !facts.PodMonitors:
		o = outcome.WaitFor(o.Condition, v1alpha1.ReasonCRDNotInstalled, msgPodMonitorCRD)
	case facts.ForeignPodMonitor:
		o = outcome.InvalidBecause(o.Condition, v1alpha1.ReasonClusterNotOwned, fmt.Sprintf(msgPodMonitorNotOwned, cr.Name))
	case !facts.PodMonitor:
		o = outcome.WaitFor(o.Condition, v1alpha1.ReasonProgressing, msgPodMonitorLater)
	}
	o.Informative = true
	return o
}

// BenchmarkName is the PgBenchmark of the current inline benchmark, or "".
func BenchmarkName(cr *v1alpha1.PgStorageCluster) string {
	if cr.Spec.Benchmark == nil {
		return ""
	}
	return naming.InlineBenchmark(cr.Name, cr.Spec.Benchmark)
}

func benchmarkOutcome(b *v1alpha1.PgBenchmark, database outcome.Outcome) outcome.Outcome {
	o := outcome.WaitFor(v1alpha1.ConditionBenchmarkComplete, v1alpha1.ReasonPreparing, msgBenchmarkCreating)
	if b == nil {
		if database.Kind != outcome.Done {
			o.Reason, o.Message = v1alpha1.ReasonTargetNotReady, msgBenchmarkLater
		}
		o.Informative = true
		return o
	}
	if c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionReady); c != nil {
		o.Reason, o.Message = c.Reason, fmt.Sprintf("PgBenchmark %s: %s", b.Name, c.Message)
		if c.Status == "True" {
			o.Kind = outcome.Done
		}
	}
	o.Informative = true
	return o
}
