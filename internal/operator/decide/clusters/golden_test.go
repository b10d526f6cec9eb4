package clusters

import (
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

var config = Config{ImageRepository: "registry.example/postgresql", BenchImage: "registry.example/pgstorage:1", ReadPools: true, Sites: true}

func shop(change func(*v1alpha1.PgStorageClusterSpec)) *v1alpha1.PgStorageCluster {
	amounts := map[corev1.ResourceName]resource.Quantity{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("4Gi")}
	cr := &v1alpha1.PgStorageCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "shop", UID: "11111111-2222-3333-4444-555555555555", Generation: 1},
		Spec: v1alpha1.PgStorageClusterSpec{
			Profile:    "standard",
			Postgres:   v1alpha1.PostgresSpec{Version: "17", Database: "app", Owner: "app"},
			Storage:    v1alpha1.ClusterStorage{Size: resource.MustParse("100Gi")},
			Resources:  v1alpha1.ClusterResources{Requests: amounts, Limits: amounts},
			Workload:   v1alpha1.WorkloadOLTP,
			Durability: v1alpha1.DurabilityLocal,
		},
	}
	if change != nil {
		change(&cr.Spec)
	}
	return cr
}

func facts() observed.Cluster {
	return observed.Cluster{
		ForeignAPIs: observed.ForeignAPIs{CNPGInstalled: true, PodMonitors: true},
		Profile: &v1alpha1.PgStorageProfile{
			Spec: v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeExternal, External: &v1alpha1.ExternalProfile{StorageClassName: "fast", WALStorageClassName: "faster", Medium: v1alpha1.MediumSSD}},
			Status: v1alpha1.PgStorageProfileStatus{Conditions: []metav1.Condition{
				{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonReady},
			}},
		},
	}
}

func TestClusterPlans(t *testing.T) {
	three := int32(3)
	wal := resource.MustParse("20Gi")
	for _, tc := range []struct {
		name   string
		change func(*v1alpha1.PgStorageClusterSpec)
		facts  func(*observed.Cluster)
	}{
		{"single", nil, nil},
		{"quorum-with-wal", func(s *v1alpha1.PgStorageClusterSpec) {
			s.Instances, s.Durability, s.Storage.WALSize = &three, v1alpha1.DurabilityQuorum, &wal
			s.Postgres.Parameters = map[string]string{"work_mem": "64MB"}
		}, nil},
		{"benchmark", func(s *v1alpha1.PgStorageClusterSpec) {
			s.Benchmark = &v1alpha1.InlineBenchmark{PgbenchSpec: v1alpha1.PgbenchSpec{Scale: 100, Clients: []int32{1, 16, 64}, Duration: "5m"}}
			s.Monitoring = &v1alpha1.Monitoring{PodMonitor: v1alpha1.PodMonitorDisabled}
		}, nil},
		{"overrides", func(s *v1alpha1.PgStorageClusterSpec) {
			s.CNPG = &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(`{"affinity":{"topologyKey":"zone"},"monitoring":{"tls":{"enabled":true}},"bootstrap":{"recovery":{"source":"old"}}}`)}}
		}, func(f *observed.Cluster) { f.Profile.Spec.AllowedOverrides = []string{"bootstrap.recovery"} }},
		{"probes", func(s *v1alpha1.PgStorageClusterSpec) {
			s.CNPG = &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(`{"probes":{"liveness":{"failureThreshold":20}},"startDelay":600}`)}}
		}, func(f *observed.Cluster) {
			f.Profile.Spec.InstanceProbes = &v1alpha1.InstanceProbes{Reason: "commits wait for a bucket", Timeout: "30s", Liveness: "5m", Startup: "2h"}
		}},
		{"held", nil, func(f *observed.Cluster) { *f = observed.Cluster{} }},
		{"without-full-pages", withoutFullPages, inTheirPlace},
		{"without-full-pages-in-a-failover", withoutFullPages, func(f *observed.Cluster) {
			inTheirPlace(f)
			f.Cluster.Status.ReadyInstances = 1
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := facts()
			if tc.facts != nil {
				tc.facts(&f)
			}
			built, err := Build(shop(tc.change), f, catalog.All(), config)
			if err != nil {
				t.Fatal(err)
			}
			golden.Plan(t, "cluster-"+tc.name, &built.Plan)
			again, err := Build(shop(tc.change), f, catalog.All(), config)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(text(t, &built.Plan), text(t, &again.Plan)); diff != "" {
				t.Errorf("the same inputs give other output: %s", diff)
			}
		})
	}
}

// withoutFullPages asks for full_page_writes=off of two instances.
func withoutFullPages(s *v1alpha1.PgStorageClusterSpec) {
	two := int32(2)
	s.Instances = &two
	s.Postgres.Parameters = map[string]string{"full_page_writes": "off"}
}

// inTheirPlace are two ready instances on volumes that tear no page.
func inTheirPlace(f *observed.Cluster) {
	f.Profile.Spec = v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeZFSLocalPV, ZFSLocalPV: &v1alpha1.ZFSLocalPVProfile{Pool: v1alpha1.ZFSPool{Name: "tank"}}}
	for _, name := range []string{"shop-1", "shop-2"} {
		f.Claims = append(f.Claims, observed.Claim{
			Name: name, Instance: name, Volume: "pvc-" + name, Node: "n1",
			Observed: &v1alpha1.ObservedVolume{Name: "tank/pgdata/pvc-" + name, Type: "Filesystem", Recordsize: 8192},
		})
	}
	f.Cluster = &cnpgv1.Cluster{Status: cnpgv1.ClusterStatus{Phase: cnpgv1.PhaseHealthy, Instances: 2, ReadyInstances: 2, CurrentPrimary: "shop-1", TargetPrimary: "shop-1"}}
}

func text(t *testing.T, p *plan.Plan) string {
	t.Helper()
	out, err := p.YAML()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestReadBackOutcome(t *testing.T) {
	built, err := Build(shop(nil), facts(), catalog.All(), config)
	if err != nil {
		t.Fatal(err)
	}
	done := outcome.DoneWith(v1alpha1.ConditionDatabaseReady, v1alpha1.ReasonHealthy, "")
	for _, tc := range []struct {
		name   string
		seen   observed.ReadBack
		reason string
		kind   outcome.Kind
		counts bool
	}{
		{"as given", observed.ReadBack{Instances: map[string]map[string]float64{"shop-1": {"shared_buffers": 131072}}}, v1alpha1.ReasonApplied, outcome.Done, true},
		{"another value", observed.ReadBack{Instances: map[string]map[string]float64{"shop-1": {"shared_buffers": 16384}}}, v1alpha1.ReasonParametersDiffer, outcome.Wait, true},
		{"nothing read", observed.ReadBack{}, v1alpha1.ReasonNotReadBack, outcome.Wait, false},
		{"one that did not answer", observed.ReadBack{Instances: map[string]map[string]float64{"shop-1": {"shared_buffers": 131072}}, Errors: map[string]string{"shop-2": "no"}}, v1alpha1.ReasonNotReadBack, outcome.Wait, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := appliedOutcome(shop(nil), built.Parameters, tc.seen, done)
			if got.Reason != tc.reason || got.Kind != tc.kind || got.Informative == tc.counts {
				t.Errorf("outcome %+v", got)
			}
		})
	}
}

func TestInlineBenchmarkNameFollowsItsSpec(t *testing.T) {
	with := func(scale int32) string {
		return BenchmarkName(shop(func(s *v1alpha1.PgStorageClusterSpec) {
			s.Benchmark = &v1alpha1.InlineBenchmark{PgbenchSpec: v1alpha1.PgbenchSpec{Scale: scale}}
		}))
	}
	if first, again := with(1), with(1); first == with(2) || first != again || BenchmarkName(shop(nil)) != "" {
		t.Errorf("names %s %s", with(1), with(2))
	}
	if n := naming.InlineBenchmark("a-name-that-is-as-long-as-a-cluster-name-may-be-50", 1); len(n) > 50 {
		t.Errorf("%s has %d characters", n, len(n))
	}
}
