package matrices

import (
	"fmt"
	"strconv"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	apiac "github.com/pgstorage/pgstorage/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
)

const kind = "PgBenchmark"

// clusterObject is the PgStorageCluster of a target. It is deleted with its data:
// nothing is in it but what was measured.
func (d *design) clusterObject(target string) (plan.Object, error) {
	spec := apiac.PgStorageClusterSpec()
	if err := plan.Convert(d.b.Spec.Template, spec); err != nil {
		return plan.Object{}, fmt.Errorf("spec.template: %w", err)
	}
	s := d.settingsOf(target)
	if s.profile != "" {
		spec.WithProfile(s.profile)
	}
	if s.durability != "" {
		spec.WithDurability(s.durability)
	}
	spec.Postgres.WithParameters(s.parameters)
	return plan.FromApply(plan.StageDatabase, apiac.PgStorageCluster(d.cluster(target), d.b.Namespace).
		WithLabels(naming.BenchmarkLabels(d.b.Name)).
		WithOwnerReferences(plan.ControllerReference(kind, d.b)).
		WithSpec(spec.WithDeletionPolicy(v1alpha1.DeletionDelete)))
}

// settingsOf a target: those of any of its variants, which are the same in all that
// concerns a cluster.
func (d *design) settingsOf(target string) settings {
	for _, v := range d.Variants {
		if d.targets[v.Name] == target {
			return d.settings[v.Name]
		}
	}
	return settings{}
}

// runObject is the PgBenchmark of one run: one count of clients, once.
func (d *design) runObject(r matrix.PlannedRun) (plan.Object, error) {
	work, s := *d.b.Spec.Pgbench.DeepCopy(), d.settings[r.Variant]
	work.Clients, work.Repeats = []int32{s.clients}, 1
	if s.script != "" {
		work.Script, work.CustomScripts = s.script, nil
	}
	spec := apiac.PgbenchSpec()
	if err := plan.Convert(work, spec); err != nil {
		return plan.Object{}, fmt.Errorf("spec.pgbench: %w", err)
	}
	whole := apiac.PgBenchmarkSpec().WithCluster(d.cluster(r.Target)).WithPgbench(spec)
	if d.b.Spec.Layers != nil {
		layers := apiac.BenchmarkLayers()
		if err := plan.Convert(d.b.Spec.Layers, layers); err != nil {
			return plan.Object{}, fmt.Errorf("spec.layers: %w", err)
		}
		whole.WithLayers(layers)
	}
	return plan.FromApply(plan.StageBenchmark, apiac.PgBenchmark(d.run(r.ID), d.b.Namespace).
		WithLabels(naming.BenchmarkLabels(d.b.Name)).
		WithAnnotations(map[string]string{naming.AnnotationVariant: r.Variant, naming.AnnotationRepeat: strconv.Itoa(r.Repeat)}).
		WithOwnerReferences(plan.ControllerReference(kind, d.b)).
		WithSpec(whole))
}
