package benchmarks

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Who may create a PgBenchmark cannot load a database without the consent of who may
// change its cluster.
func TestClustersAdmitBenchmarks(t *testing.T) {
	yes := true
	declared := v1alpha1.PgbenchSpec{Scale: 5, Clients: []int32{1}, Resources: &v1alpha1.RunnerResources{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}
	same := *declared.DeepCopy()
	same.Resources.Requests["cpu"] = resource.MustParse("1000m")
	larger := *declared.DeepCopy()
	larger.Scale = 100000
	ofCluster := func(cr *v1alpha1.PgStorageCluster) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PgStorageCluster", Name: cr.Name, UID: cr.UID, Controller: &yes}}
	}
	for name, tc := range map[string]struct {
		cluster   func(*v1alpha1.PgStorageCluster)
		benchmark func(*v1alpha1.PgBenchmark, *v1alpha1.PgStorageCluster)
		admits    bool
	}{
		"by default": {admits: false},
		"policy Own": {func(c *v1alpha1.PgStorageCluster) { c.Spec.BenchmarkPolicy = v1alpha1.BenchmarkOwn }, nil, false},
		"policy Any": {func(c *v1alpha1.PgStorageCluster) { c.Spec.BenchmarkPolicy = v1alpha1.BenchmarkAny }, nil, true},
		"of a matrix": {func(c *v1alpha1.PgStorageCluster) {
			c.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PgBenchmark", Name: "m", Controller: &yes}}
		}, nil, true},
		"declared": {nil, func(b *v1alpha1.PgBenchmark, c *v1alpha1.PgStorageCluster) {
			b.Name, b.Spec.Pgbench = clusters.BenchmarkName(c), same
		}, true},
		"declared, with another size": {nil, func(b *v1alpha1.PgBenchmark, c *v1alpha1.PgStorageCluster) {
			b.Name, b.Spec.Pgbench, b.OwnerReferences = clusters.BenchmarkName(c), larger, ofCluster(c)
		}, false},
		"declared, with layers": {nil, func(b *v1alpha1.PgBenchmark, c *v1alpha1.PgStorageCluster) {
			b.Name, b.Spec.Pgbench, b.Spec.Layers = clusters.BenchmarkName(c), same, &v1alpha1.BenchmarkLayers{}
		}, false},
		"declared, by another name": {nil, func(b *v1alpha1.PgBenchmark, _ *v1alpha1.PgStorageCluster) { b.Spec.Pgbench = same }, false},
		"an owner reference that the author wrote": {nil, func(b *v1alpha1.PgBenchmark, c *v1alpha1.PgStorageCluster) {
			b.OwnerReferences = ofCluster(c)
		}, false},
		"a matrix against it": {nil, func(b *v1alpha1.PgBenchmark, _ *v1alpha1.PgStorageCluster) {
			b.Spec.Matrix = &v1alpha1.BenchmarkMatrix{}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			cr := target(func(s *v1alpha1.PgStorageClusterSpec) { s.Benchmark = &v1alpha1.InlineBenchmark{PgbenchSpec: declared} })
			b := &v1alpha1.PgBenchmark{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "mine"}, Spec: v1alpha1.PgBenchmarkSpec{Cluster: "shop", Pgbench: v1alpha1.PgbenchSpec{Scale: 10}}}
			if tc.cluster != nil {
				tc.cluster(cr)
			}
			if tc.benchmark != nil {
				tc.benchmark(b, cr)
			}
			built, err := Build(b, observed.Benchmark{Target: cr}, runnerConfig)
			if err != nil {
				t.Fatal(err)
			}
			refused := built.Target.Reason == v1alpha1.ReasonConsentRequired
			if refused == tc.admits || Admits(cr, b) != tc.admits {
				t.Errorf("%+v", built.Target)
			}
			if !refused {
				return
			}
			if built.Target.Kind != outcome.Wait || !strings.HasSuffix(built.Target.Message, `kubectl -n prod patch pgsc shop --type=merge -p '{"spec":{"benchmarkPolicy":"Any"}}'`) {
				t.Errorf("%+v", built.Target)
			}
			if _, held := built.Plan.GateOf(plan.StageAccess); !held {
				t.Error("something is made for a benchmark that may not run")
			}
		})
	}
}

func TestTablesThatCannotFitAreRefused(t *testing.T) {
	cr := target(func(s *v1alpha1.PgStorageClusterSpec) { s.BenchmarkPolicy = v1alpha1.BenchmarkAny })
	cr.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, ObservedGeneration: 1}}
	for _, tc := range []struct {
		name    string
		scale   int32
		volumes observed.Volumes
		refused bool
	}{
		{"spec.storage.size of 100Gi", 3000, observed.Volumes{}, false},
		{"too large for it", 3100, observed.Volumes{}, true},
		{"what the claims have counts", 3000, observed.Volumes{Data: 50 << 30}, true},
		{"also where they grew", 3100, observed.Volumes{Data: 200 << 30}, false},
	} {
		b := &v1alpha1.PgBenchmark{Spec: v1alpha1.PgBenchmarkSpec{Cluster: "shop", Pgbench: v1alpha1.PgbenchSpec{Scale: tc.scale}}}
		f := observed.Benchmark{ForeignAPIs: observed.ForeignAPIs{CNPGInstalled: true}, Target: cr, Image: "postgres:17", Volumes: tc.volumes}
		built, err := Build(b, f, runnerConfig)
		if err != nil {
			t.Fatal(err)
		}
		refused := built.Target.Kind == outcome.Invalid && built.Target.Reason == v1alpha1.ReasonNotEnoughSpace && strings.HasPrefix(built.Target.Message, "spec.pgbench.scale: ")
		if refused != tc.refused {
			t.Errorf("%s: %+v", tc.name, built.Target)
		}
	}
}

// A database that took the space of others is dropped, whatever is to be kept.
func TestNothingIsKeptWhereFreeSpaceWasLow(t *testing.T) {
	b := &v1alpha1.PgBenchmark{Spec: v1alpha1.PgBenchmarkSpec{Pgbench: v1alpha1.PgbenchSpec{Cleanup: v1alpha1.CleanupNever}}}
	b.Status.Run = &v1alpha1.BenchmarkRun{Reason: v1alpha1.ReasonIntegrityFailed}
	if !Keeps(b) {
		t.Error("a run that failed otherwise is kept")
	}
	b.Status.Run.Reason = v1alpha1.ReasonFreeSpaceLow
	if Keeps(b) {
		t.Error("it is kept")
	}
}

var runnerConfig = clusters.Config{BenchImage: "registry.example/pgstorage:1"}

// target is the cluster that benchmarks measure, with one change.
func target(change func(*v1alpha1.PgStorageClusterSpec)) *v1alpha1.PgStorageCluster {
	cr := &v1alpha1.PgStorageCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "shop", UID: "11111111-2222-3333-4444-555555555555", Generation: 1},
		Spec: v1alpha1.PgStorageClusterSpec{
			Profile:    "standard",
			Postgres:   v1alpha1.PostgresSpec{Version: "17", Database: "app", Owner: "app"},
			Storage:    v1alpha1.ClusterStorage{Size: resource.MustParse("100Gi")},
			Durability: v1alpha1.DurabilityLocal,
		},
	}
	change(&cr.Spec)
	return cr
}
