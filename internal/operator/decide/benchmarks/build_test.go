package benchmarks

import (
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

func TestBenchmarkPlans(t *testing.T) {
	yes := true
	cr := target(func(s *v1alpha1.PgStorageClusterSpec) { s.BenchmarkPolicy = v1alpha1.BenchmarkAny })
	cr.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, ObservedGeneration: 1}}
	bench := func(change func(*v1alpha1.PgbenchSpec)) *v1alpha1.PgBenchmark {
		b := &v1alpha1.PgBenchmark{
			ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "nightly", UID: "66666666-7777-8888-9999-000000000000"},
			Spec:       v1alpha1.PgBenchmarkSpec{Cluster: "shop", Pgbench: v1alpha1.PgbenchSpec{Scale: 10, Clients: []int32{1, 4}, Duration: "30s", WarmUp: "5s", Repeats: 3, Integrity: v1alpha1.IntegrityFull}},
		}
		if change != nil {
			change(&b.Spec.Pgbench)
		}
		return b
	}
	prepared := observed.Benchmark{
		ForeignAPIs: observed.ForeignAPIs{CNPGInstalled: true}, Target: cr, Image: "registry.example/postgresql:17",
		Role:      &cnpgv1.DatabaseRole{Status: cnpgv1.DatabaseRoleStatus{Applied: &yes}},
		CheckRole: &cnpgv1.DatabaseRole{Status: cnpgv1.DatabaseRoleStatus{Applied: &yes}},
		Database:  &cnpgv1.Database{Status: cnpgv1.DatabaseStatus{Applied: &yes}},
	}
	unprepared := prepared
	unprepared.Role, unprepared.CheckRole, unprepared.Database = nil, nil, nil
	measured := func(scratch observed.Scratch) observed.Benchmark {
		f := prepared
		f.Scratch = &scratch
		return f
	}
	layers := &v1alpha1.BenchmarkLayers{VolumeSize: new(resource.MustParse("2Gi")), FioImage: "registry.example/fio:3.39", Duration: "10s", Repeats: 5}
	for _, tc := range []struct {
		name   string
		change func(*v1alpha1.PgbenchSpec)
		facts  observed.Benchmark
		layers *v1alpha1.BenchmarkLayers
	}{
		{name: "layers", layers: layers, facts: measured(observed.Scratch{
			WAL: "faster", Data: "fast", Tolerations: []corev1.Toleration{{Key: "database", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}},
		})},
		{name: "layers-without-fio", layers: &v1alpha1.BenchmarkLayers{Duration: "5s", Repeats: 3}, facts: measured(observed.Scratch{WAL: "fast"})},
		{name: "layers-without-volume", layers: layers, facts: measured(observed.Scratch{WAL: "kept", Impossible: "StorageClass kept has reclaimPolicy Retain"})},
		{name: "built-in", facts: prepared},
		{name: "custom-basic", change: func(p *v1alpha1.PgbenchSpec) {
			p.CustomScripts = []v1alpha1.CustomScript{{ConfigMap: "sql", Key: "read.sql", Weight: 9}, {ConfigMap: "more", Key: "write.sql", Weight: 1}}
			p.Integrity = v1alpha1.IntegrityBasic
		}, facts: prepared},
		{name: "unprepared", facts: unprepared},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := bench(tc.change)
			b.Spec.Layers = tc.layers
			built, err := Build(b, tc.facts, runnerConfig)
			if err != nil {
				t.Fatal(err)
			}
			golden.Plan(t, "benchmark-"+tc.name, &built.Plan)
		})
	}
}
