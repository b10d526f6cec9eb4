package benchmarks

import (
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

// pooled are the facts about a benchmark of a read pool that can begin.
func pooled() (*v1alpha1.PgBenchmark, observed.Benchmark) {
	ready := []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, ObservedGeneration: 1}}
	source := target(func(s *v1alpha1.PgStorageClusterSpec) { s.BenchmarkPolicy = v1alpha1.BenchmarkAny })
	pool := target(func(s *v1alpha1.PgStorageClusterSpec) {
		s.BenchmarkPolicy, s.Follow, s.Storage.Size = v1alpha1.BenchmarkAny, &v1alpha1.FollowSpec{Cluster: "shop"}, resource.MustParse("2Gi")
	})
	pool.Name, pool.UID = "shop-cache", "22222222-2222-3333-4444-555555555555"
	source.Status.Conditions, pool.Status.Conditions = ready, ready
	yes := true
	b := &v1alpha1.PgBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "cold", UID: "66666666-7777-8888-9999-000000000000"},
		Spec:       v1alpha1.PgBenchmarkSpec{Cluster: "shop-cache", Pgbench: v1alpha1.PgbenchSpec{Scale: 10, Script: v1alpha1.ScriptSelectOnly, Clients: []int32{4}, Duration: "60s"}},
	}
	return b, observed.Benchmark{
		ForeignAPIs: observed.ForeignAPIs{CNPGInstalled: true}, Target: pool, Source: source, Image: "registry.example/postgresql:17",
		Role:      &cnpgv1.DatabaseRole{Status: cnpgv1.DatabaseRoleStatus{Applied: &yes}},
		CheckRole: &cnpgv1.DatabaseRole{Status: cnpgv1.DatabaseRoleStatus{Applied: &yes}},
		Database:  &cnpgv1.Database{Status: cnpgv1.DatabaseStatus{Applied: &yes}},
	}
}

// Database and roles are on the cluster that is followed, which has the tables. The runner
// connects to both.
func TestPlanOfReadPool(t *testing.T) {
	b, facts := pooled()
	built, err := Build(b, facts, runnerConfig)
	if err != nil {
		t.Fatal(err)
	}
	if built.Target.Kind != outcome.Done {
		t.Errorf("%+v", built.Target)
	}
	golden.Plan(t, "benchmark-read-pool", &built.Plan)
	if got := Status(b, facts, built.Target, metav1.Time{}).Durability; got != v1alpha1.DurabilityReadOnly {
		t.Errorf("the tier is %s", got)
	}
}

func TestReadPoolsTakeBenchmarksThatRead(t *testing.T) {
	const consent = `kubectl -n prod patch pgsc %s --type=merge -p '{"spec":{"benchmarkPolicy":"Any"}}'`
	for name, tc := range map[string]struct {
		change  func(*v1alpha1.PgBenchmarkSpec, *observed.Benchmark)
		kind    outcome.Kind
		reason  string
		message string
	}{
		"as it is": {func(*v1alpha1.PgBenchmarkSpec, *observed.Benchmark) {}, outcome.Done, v1alpha1.ReasonReady, "shop-cache"},
		"the script by default": {func(s *v1alpha1.PgBenchmarkSpec, _ *observed.Benchmark) { s.Pgbench.Script = "" }, outcome.Invalid, v1alpha1.ReasonInvalidSpec,
			"spec.pgbench.script: PgStorageCluster shop-cache follows shop and takes no writes; set SelectOnly, or measure shop"},
		"a script that writes": {func(s *v1alpha1.PgBenchmarkSpec, _ *observed.Benchmark) {
			s.Pgbench.Script = v1alpha1.ScriptSimpleUpdate
		}, outcome.Invalid, v1alpha1.ReasonInvalidSpec, "spec.pgbench.script: "},
		"a custom script": {func(s *v1alpha1.PgBenchmarkSpec, _ *observed.Benchmark) {
			s.Pgbench.Script, s.Pgbench.CustomScripts = "", []v1alpha1.CustomScript{{ConfigMap: "a", Key: "a.sql"}}
		}, outcome.Invalid, v1alpha1.ReasonInvalidSpec, "spec.pgbench.customScripts: "},
		"layers": {func(s *v1alpha1.PgBenchmarkSpec, _ *observed.Benchmark) { s.Layers = &v1alpha1.BenchmarkLayers{} }, outcome.Invalid, v1alpha1.ReasonInvalidSpec, "remove spec.layers"},
		"a cold cache, also of a matrix": {func(s *v1alpha1.PgBenchmarkSpec, f *observed.Benchmark) {
			yes := true
			s.Pgbench.ColdCache = true
			f.Target.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PgBenchmark", Name: "m", Controller: &yes}}
		}, outcome.Invalid, v1alpha1.ReasonInvalidSpec, "spec.pgbench.coldCache "},
		"the pool does not admit it": {func(_ *v1alpha1.PgBenchmarkSpec, f *observed.Benchmark) {
			f.Target.Spec.BenchmarkPolicy = v1alpha1.BenchmarkOwn
		},
			outcome.Wait, v1alpha1.ReasonConsentRequired, strings.ReplaceAll(consent, "%s", "shop-cache")},
		"its cluster does not admit it": {func(_ *v1alpha1.PgBenchmarkSpec, f *observed.Benchmark) {
			f.Source.Spec.BenchmarkPolicy = v1alpha1.BenchmarkOwn
		},
			outcome.Wait, v1alpha1.ReasonConsentRequired, strings.ReplaceAll(consent, "%s", "shop")},
		"its cluster does not exist": {func(_ *v1alpha1.PgBenchmarkSpec, f *observed.Benchmark) { f.Source = nil }, outcome.Wait, v1alpha1.ReasonClusterNotFound, "PgStorageCluster shop,"},
		"its cluster is not Ready": {func(_ *v1alpha1.PgBenchmarkSpec, f *observed.Benchmark) { f.Source.Status.Conditions = nil }, outcome.Wait, v1alpha1.ReasonTargetNotReady,
			"Waiting for PgStorageCluster shop to be Ready"},
		"too large for the pool": {func(s *v1alpha1.PgBenchmarkSpec, _ *observed.Benchmark) { s.Pgbench.Scale = 100 }, outcome.Invalid, v1alpha1.ReasonNotEnoughSpace, "spec.pgbench.scale: "},
		"too large for its cluster": {func(_ *v1alpha1.PgBenchmarkSpec, f *observed.Benchmark) { f.SourceVolumes.Data = 300 << 20 }, outcome.Invalid, v1alpha1.ReasonNotEnoughSpace,
			"which is shop, where the tables are loaded"},
	} {
		t.Run(name, func(t *testing.T) {
			b, facts := pooled()
			tc.change(&b.Spec, &facts)
			built, err := Build(b, facts, runnerConfig)
			if err != nil {
				t.Fatal(err)
			}
			got := built.Target
			if got.Kind != tc.kind || got.Reason != tc.reason || !strings.Contains(got.Message, tc.message) {
				t.Errorf("%+v", got)
			}
			if _, held := built.Plan.GateOf(plan.StageAccess); held == (tc.kind == outcome.Done) {
				t.Errorf("held %v", held)
			}
		})
	}
}
