package clusters

import (
	"slices"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/readpool"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

// reports is a read pool that sets everything.
func reports() v1alpha1.ReadPool {
	two, lag := int32(2), resource.MustParse("256Mi")
	amounts := map[string]string{"work_mem": "64MB"}
	return v1alpha1.ReadPool{
		Name: "reports", Profile: "slow", Instances: &two, Workload: v1alpha1.WorkloadAnalytics, Parameters: amounts,
		Storage: &v1alpha1.ReadPoolStorage{Size: resource.MustParse("200Gi")},
		MaxLag:  &v1alpha1.MaxLag{Bytes: &lag, Time: "5m"}, StaleReads: v1alpha1.StaleReadsServe,
	}
}

// fresh is a pool that serves no stale reads, so it has one instance.
func fresh() v1alpha1.ReadPool {
	pool := reports()
	pool.Name, pool.Instances, pool.StaleReads = "fresh", new(int32(1)), v1alpha1.StaleReadsRefuse
	return pool
}

// withPools is a healthy cluster with these read pools.
func withPools(pools ...v1alpha1.ReadPool) (*v1alpha1.PgStorageCluster, observed.Cluster) {
	cr, f := shop(func(s *v1alpha1.PgStorageClusterSpec) { s.ReadPools = pools }), facts()
	f.Cluster = running("shop", 1)
	f.Pools, f.ForeignPools = map[string]*v1alpha1.PgStorageCluster{}, map[string]bool{}
	return cr, f
}

// running is a healthy CloudNativePG Cluster.
func running(name string, instances int) *cnpgv1.Cluster {
	return &cnpgv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: name, UID: "of-cluster"},
		Status: cnpgv1.ClusterStatus{
			Phase: cnpgv1.PhaseHealthy, Instances: instances, ReadyInstances: instances, CurrentPrimary: name + "-1",
			Conditions: []metav1.Condition{{Type: string(cnpgv1.ConditionClusterReady), Status: metav1.ConditionTrue}},
		},
	}
}

// poolOf is the PgStorageCluster of a pool as it was applied, and Ready or not.
func poolOf(cr *v1alpha1.PgStorageCluster, pool v1alpha1.ReadPool, conditions ...metav1.Condition) *v1alpha1.PgStorageCluster {
	return &v1alpha1.PgStorageCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: naming.ReadPool(cr.Name, pool.Name), UID: "of-pool"},
		Spec:       readpool.Spec(cr, pool),
		Status:     v1alpha1.PgStorageClusterStatus{Conditions: conditions},
	}
}

func condition(name string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: name, Status: status, Reason: reason, Message: message}
}

func TestReadPoolPlans(t *testing.T) {
	cr, f := withPools(v1alpha1.ReadPool{Name: "near"}, reports(), fresh())
	cr.Spec.CNPG = &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(`{"imagePullSecrets":[{"name":"pull"}],"startDelay":600,"postgresql":{"shared_preload_libraries":["auto_explain"],"pg_hba":["x"]}}`)}}
	built, err := Build(cr, f, catalog.All(), config)
	if err != nil {
		t.Fatal(err)
	}
	golden.Plan(t, "cluster-read-pools", &built.Plan)
}

func TestFollowerPlans(t *testing.T) {
	cr, f := withPools(fresh())
	follower := poolOf(cr, fresh())
	source := running("shop", 1)
	source.Spec.PostgresConfiguration.Parameters = map[string]string{"max_connections": "400"}
	built, err := Build(follower, observed.Cluster{ForeignAPIs: f.ForeignAPIs, Profile: f.Profile, Source: &observed.Source{PgStorageCluster: cr, Cluster: source}}, catalog.All(), config)
	if err != nil {
		t.Fatal(err)
	}
	golden.Plan(t, "cluster-follower", &built.Plan)
}

// Every read pool and site that streams needs a sender, and a pool at least as many as its
// cluster.
func TestEveryFollowerHasASender(t *testing.T) {
	cr, f := withPools(v1alpha1.ReadPool{Name: "a"}, v1alpha1.ReadPool{Name: "b"})
	senders := func(cr *v1alpha1.PgStorageCluster, f observed.Cluster) string {
		t.Helper()
		built, err := Build(cr, f, catalog.All(), config)
		if err != nil {
			t.Fatal(err)
		}
		if accepted, _ := built.Outcomes.Get(v1alpha1.ConditionParametersAccepted); accepted.Kind != outcome.Done {
			t.Errorf("%+v", accepted)
		}
		for _, p := range built.Parameters {
			if p.Name == "max_wal_senders" {
				return p.Value
			}
		}
		return ""
	}
	if got := senders(cr, f); got != "" {
		t.Errorf("one instance and two pools have %s", got)
	}
	cr.Spec.Instances = new(int32(16))
	if got := senders(cr, f); got != "23" {
		t.Errorf("16 instances and two pools have %q", got)
	}
	source := running("shop", 16)
	source.Spec.PostgresConfiguration.Parameters = map[string]string{"max_wal_senders": "23"}
	pool := poolOf(cr, v1alpha1.ReadPool{Name: "a"})
	if got := senders(pool, observed.Cluster{ForeignAPIs: f.ForeignAPIs, Profile: f.Profile, Source: &observed.Source{PgStorageCluster: cr, Cluster: source}}); got != "23" {
		t.Errorf("a pool of a cluster with 23 has %q", got)
	}
	site := shop(func(s *v1alpha1.PgStorageClusterSpec) {
		sites("north", "north")(s)
		s.Instances = new(int32(9))
	})
	if got := senders(site, allowed()); got != "12" {
		t.Errorf("9 instances of one site of two have %q", got)
	}
}

func TestReadPoolsAreReadyWhenEachIs(t *testing.T) {
	far := reports()
	ready := condition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady, "")
	for _, tc := range []struct {
		name   string
		change func(*v1alpha1.PgStorageCluster, *observed.Cluster)
		kind   outcome.Kind
		reason string
		says   string
		// deletes are the PgStorageClusters that the operator deletes.
		deletes []string
	}{
		{"not made yet", func(*v1alpha1.PgStorageCluster, *observed.Cluster) {}, outcome.Wait, v1alpha1.ReasonReadPoolNotReady, "shop-reports", nil},
		{"ready", func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) { f.Pools["reports"] = poolOf(cr, far, ready) }, outcome.Done, v1alpha1.ReasonReady, "1 read pools", nil},
		{"its name is taken", func(_ *v1alpha1.PgStorageCluster, f *observed.Cluster) { f.ForeignPools["reports"] = true }, outcome.Invalid, v1alpha1.ReasonClusterNotOwned, "choose another name", nil},
		{"resources that its PgStorageCluster would be refused for", func(cr *v1alpha1.PgStorageCluster, _ *observed.Cluster) {
			cr.Spec.ReadPools[0].Resources = &v1alpha1.ReadPoolResources{
				Requests: corev1.ResourceList{"memory": resource.MustParse("128Mi"), "cpu": resource.MustParse("1"), "hugepages-2Mi": resource.MustParse("2Mi"), "gpu": resource.MustParse("1")},
				Limits:   corev1.ResourceList{"cpu": resource.MustParse("500m")},
			}
		}, outcome.Invalid, v1alpha1.ReasonInvalidSpec, `requests may name cpu, memory, ephemeral-storage, hugepages-2Mi and hugepages-1Gi only, and not "gpu"; spec.readPools[reports].resources.requests.memory must be at least 256Mi: the operator derives Postgres parameters from it; spec.readPools[reports].resources.limits.cpu is below its request; raise the limit or lower the request; spec.readPools[reports].resources: hugepages-2Mi cannot be overcommitted`, nil},
		{"volumes and a lag that its PgStorageCluster would be refused for", func(cr *v1alpha1.PgStorageCluster, _ *observed.Cluster) {
			cr.Spec.ReadPools[0].Storage = &v1alpha1.ReadPoolStorage{Size: resource.MustParse("1Mi"), WALSize: new(resource.MustParse("512Mi"))}
			cr.Spec.ReadPools[0].MaxLag = &v1alpha1.MaxLag{Bytes: new(resource.MustParse("1Ki"))}
		}, outcome.Invalid, v1alpha1.ReasonInvalidSpec, "spec.readPools[reports].storage.size must be at least 1Gi; raise it; spec.readPools[reports].storage.walSize must be at least 1Gi; raise it; spec.readPools[reports].maxLag.bytes must be at least 1Mi; raise it", nil},
		{"smaller volumes than any pool may have", func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.Pools["reports"] = poolOf(cr, far, ready)
			cr.Spec.ReadPools[0].Storage = &v1alpha1.ReadPoolStorage{Size: resource.MustParse("1Mi")}
		}, outcome.Invalid, v1alpha1.ReasonInvalidSpec, "spec.readPools[reports].storage.size must be at least 1Gi; raise it", nil},
		{"stale reads refused by several instances, as an object has it from before that rule", func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			cr.Spec.ReadPools[0].StaleReads = v1alpha1.StaleReadsRefuse
			f.Pools["reports"] = poolOf(cr, cr.Spec.ReadPools[0], ready)
			f.Pools["reports"].Spec.Profile = "fast"
		}, outcome.Invalid, v1alpha1.ReasonInvalidSpec, "spec.readPools[reports].staleReads: Refuse needs instances: 1, and spec.readPools[reports].instances is 2", nil},
		{"stale reads refused by one instance", func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			cr.Spec.ReadPools[0].StaleReads, cr.Spec.ReadPools[0].Instances = v1alpha1.StaleReadsRefuse, new(int32(1))
			f.Pools["reports"] = poolOf(cr, cr.Spec.ReadPools[0], ready)
		}, outcome.Done, v1alpha1.ReasonReady, "", nil},
		{"stale reads refused by the default of instances", func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			cr.Spec.ReadPools[0].StaleReads, cr.Spec.ReadPools[0].Instances = v1alpha1.StaleReadsRefuse, nil
			f.Pools["reports"] = poolOf(cr, cr.Spec.ReadPools[0], ready)
		}, outcome.Done, v1alpha1.ReasonReady, "", nil},
		{"another profile, with resources that are refused", func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.Pools["reports"] = poolOf(cr, far, ready)
			f.Pools["reports"].Spec.Profile = "fast"
			cr.Spec.ReadPools[0].Resources = &v1alpha1.ReadPoolResources{Requests: corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1Mi")}}
		}, outcome.Invalid, v1alpha1.ReasonInvalidSpec, "requests.memory must be at least 256Mi", nil},
		{"waits", func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.Pools["reports"] = poolOf(cr, far, condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonClusterCreating, "being created"))
		}, outcome.Wait, v1alpha1.ReasonReadPoolNotReady, "reports: ClusterCreating: being created", nil},
		{"needs an administrator", func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.Pools["reports"] = poolOf(cr, far, condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonInvalidParameters, "work_mem"), condition(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonInvalidParameters, "work_mem"))
		}, outcome.Invalid, v1alpha1.ReasonReadPoolNotReady, "work_mem", nil},
		{"another profile", func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.Pools["reports"] = poolOf(cr, far, ready)
			f.Pools["reports"].Spec.Profile = "fast"
		}, outcome.Wait, v1alpha1.ReasonCloningAgain, "its profile was fast", []string{"shop-reports"}},
		{"another profile, while it may have the last copy of a database that was replaced", func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.Pools["reports"] = poolOf(cr, far, condition(v1alpha1.ConditionSourceReady, metav1.ConditionFalse, v1alpha1.ReasonSourceReplaced, ""), condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSourceReplaced, "it stays"), condition(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonSourceReplaced, ""))
			f.Pools["reports"].Spec.Profile = "fast"
		}, outcome.Invalid, v1alpha1.ReasonReadPoolNotReady, "SourceReplaced: it stays", nil},
		{"smaller volumes", func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.Pools["reports"] = poolOf(cr, far, ready)
			f.Pools["reports"].Spec.Storage.Size = resource.MustParse("300Gi")
		}, outcome.Wait, v1alpha1.ReasonCloningAgain, "300Gi", []string{"shop-reports"}},
		{"no volume for WAL any more", func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			wal := resource.MustParse("20Gi")
			f.Pools["reports"] = poolOf(cr, far, ready)
			f.Pools["reports"].Spec.Storage.WALSize = &wal
		}, outcome.Wait, v1alpha1.ReasonCloningAgain, "20Gi", []string{"shop-reports"}},
		{"another major", func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.Pools["reports"] = poolOf(cr, far, ready)
			f.Pools["reports"].Spec.Postgres.Version = "16"
		}, outcome.Wait, v1alpha1.ReasonCloningAgain, "PostgreSQL 16", []string{"shop-reports"}},
		{"a volume in memory is lost", func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.Pools["reports"] = poolOf(cr, far, condition(v1alpha1.ConditionVolumesVerified, metav1.ConditionFalse, v1alpha1.ReasonVolumeLost, "gone"))
		}, outcome.Wait, v1alpha1.ReasonCloningAgain, "in the memory of a node, and are gone", []string{"shop-reports"}},
		{"larger volumes in memory", func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.Pools["reports"], f.PoolsInMemory = poolOf(cr, far, ready), map[string]bool{"reports": true}
			f.Pools["reports"].Spec.Storage.Size = resource.MustParse("1Gi")
		}, outcome.Wait, v1alpha1.ReasonCloningAgain, "volumes in memory do not grow", []string{"shop-reports"}},
		{"larger volumes and more instances are changes in place", func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			one := int32(1)
			f.Pools["reports"] = poolOf(cr, far, ready)
			f.Pools["reports"].Spec.Instances, f.Pools["reports"].Spec.Storage.Size = &one, resource.MustParse("100Gi")
		}, outcome.Done, v1alpha1.ReasonReady, "", nil},
		{"removed", func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.Pools["reports"] = poolOf(cr, far, ready)
			cr.Spec.ReadPools = nil
		}, outcome.Wait, v1alpha1.ReasonDeleting, "not declared", []string{"shop-reports"}},
		{"removed while the cluster is not healthy", func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.Pools["reports"] = poolOf(cr, far, ready)
			cr.Spec.ReadPools, f.Cluster.Status.ReadyInstances = nil, 0
		}, outcome.Wait, v1alpha1.ReasonDeleting, "last copy", nil},
		{"another profile while the database is gone", func(cr *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.Pools["reports"] = poolOf(cr, far, ready)
			f.Pools["reports"].Spec.Profile, f.Cluster = "fast", nil
		}, outcome.Wait, v1alpha1.ReasonCloningAgain, "last copy", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cr, f := withPools(far)
			tc.change(cr, &f)
			o := readPoolsOutcome(cr, f, config)
			if o == nil || o.Kind != tc.kind || o.Reason != tc.reason || !strings.Contains(o.Message, tc.says) {
				t.Errorf("got %+v, want kind %d, reason %s and %q", o, tc.kind, tc.reason, tc.says)
			}
			var names []string
			for _, pool := range PoolsToDelete(cr, f, config) {
				names = append(names, pool.Name)
			}
			if !slices.Equal(names, tc.deletes) {
				t.Errorf("%v are deleted, want %v", names, tc.deletes)
			}
		})
	}
}

// Without the gate the manager has no right to write PgStorageClusters.
func TestReadPoolsAreRefusedWithoutTheirGate(t *testing.T) {
	cr, f := withPools(reports())
	f.Pools["near"] = poolOf(cr, v1alpha1.ReadPool{Name: "near"})
	off := config
	off.ReadPools = false
	built, err := Build(cr, f, catalog.All(), off)
	if err != nil {
		t.Fatal(err)
	}
	o, _ := built.Outcomes.Get(v1alpha1.ConditionReadPoolsReady)
	if o.Kind != outcome.Invalid || o.Reason != v1alpha1.ReasonInvalidSpec || !strings.Contains(o.Message, "readPools.enabled=true") {
		t.Errorf("got %+v", o)
	}
	if slices.ContainsFunc(built.Plan.Objects, func(p plan.Object) bool { return p.Key().Kind == "PgStorageCluster" }) || len(PoolsToDelete(cr, f, off)) > 0 {
		t.Error("pools are written")
	}
}

// A pool that is cloned again is not in the plan, because the API server would reject the
// change.
func TestPoolThatIsClonedAgainIsNotApplied(t *testing.T) {
	cr, f := withPools(reports(), v1alpha1.ReadPool{Name: "near"})
	f.Pools["reports"] = poolOf(cr, reports())
	f.Pools["reports"].Spec.Profile = "fast"
	if pools := poolsOfPlan(t, cr, f); !slices.Equal(pools, []string{"shop-near"}) {
		t.Errorf("the plan has %v", pools)
	}
}

// A pool that breaks a rule stays as it is, and the others are applied.
func TestRefusedPoolIsNotApplied(t *testing.T) {
	stored := fresh()
	stored.Instances = new(int32(3))
	cr, f := withPools(stored, v1alpha1.ReadPool{Name: "near"})
	f.Pools["fresh"] = poolOf(cr, stored)
	if pools := poolsOfPlan(t, cr, f); !slices.Equal(pools, []string{"shop-near"}) {
		t.Errorf("the plan has %v", pools)
	}
}

// poolsOfPlan are the PgStorageClusters of pools that a plan applies.
func poolsOfPlan(t *testing.T, cr *v1alpha1.PgStorageCluster, f observed.Cluster) []string {
	t.Helper()
	built, err := Build(cr, f, catalog.All(), config)
	if err != nil {
		t.Fatal(err)
	}
	var pools []string
	for _, o := range built.Plan.Objects {
		if o.Key().Kind == "PgStorageCluster" {
			pools = append(pools, o.Key().Name)
		}
	}
	return pools
}

func TestFollowerWaitsForASourceThatConsents(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*v1alpha1.PgStorageCluster, *observed.Cluster)
		kind   outcome.Kind
		reason string
		// held says that nothing is applied, counts that the follower is not Ready.
		held, counts bool
	}{
		{"ready", func(*v1alpha1.PgStorageCluster, *observed.Cluster) {}, outcome.Done, v1alpha1.ReasonReady, false, false},
		{"none", func(_ *v1alpha1.PgStorageCluster, f *observed.Cluster) { f.Source = nil }, outcome.Wait, v1alpha1.ReasonSourceNotFound, true, true},
		{"does not list the pool", func(cr *v1alpha1.PgStorageCluster, _ *observed.Cluster) { cr.Spec.ReadPools = nil }, outcome.Invalid, v1alpha1.ReasonConsentRequired, true, true},
		{"no database yet", func(_ *v1alpha1.PgStorageCluster, f *observed.Cluster) { f.Source.Cluster = nil }, outcome.Wait, v1alpha1.ReasonSourceNotReady, true, true},
		{"not healthy", func(_ *v1alpha1.PgStorageCluster, f *observed.Cluster) { f.Source.Cluster.Status.ReadyInstances = 0 }, outcome.Wait, v1alpha1.ReasonSourceNotReady, true, true},
		{"not healthy, and the follower runs", func(_ *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.Source.Cluster.Status.ReadyInstances, f.Cluster = 0, running("shop-reports", 2)
		}, outcome.Wait, v1alpha1.ReasonSourceNotReady, false, false},
		{"another major", func(_ *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.Source.Cluster.Status.PGDataImageInfo = &cnpgv1.ImageInfo{MajorVersion: 16}
		}, outcome.Wait, v1alpha1.ReasonSourceNotReady, true, true},
		{"the one it was cloned from", func(_ *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.Cluster = running("shop-reports", 2)
			f.Cluster.Annotations = map[string]string{naming.AnnotationSource: string(f.Source.Cluster.UID)}
		}, outcome.Done, v1alpha1.ReasonReady, false, false},
		{"replaced", func(_ *v1alpha1.PgStorageCluster, f *observed.Cluster) {
			f.Cluster = running("shop-reports", 2)
			f.Cluster.Annotations = map[string]string{naming.AnnotationSource: "another"}
		}, outcome.Invalid, v1alpha1.ReasonSourceReplaced, true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cr, f := withPools(reports())
			follower := poolOf(cr, reports())
			f.Source, f.Cluster = &observed.Source{PgStorageCluster: cr, Cluster: running("shop", 1)}, nil
			tc.change(cr, &f)
			built, err := Build(follower, f, catalog.All(), config)
			if err != nil {
				t.Fatal(err)
			}
			o, _ := built.Outcomes.Get(v1alpha1.ConditionSourceReady)
			if o.Kind != tc.kind || o.Reason != tc.reason || (o.Kind != outcome.Done && !o.Informative) != tc.counts {
				t.Errorf("got %+v, want kind %d, reason %s, counts %v", o, tc.kind, tc.reason, tc.counts)
			}
			applied := slices.ContainsFunc(built.Plan.Open(), func(p plan.Object) bool { return p.Key().Kind == "Cluster" })
			if applied == tc.held {
				t.Errorf("the Cluster is applied: %v", applied)
			}
		})
	}
}

// While the Cluster that it follows does not exist, a follower keeps what was applied. By the
// UID it notices another Cluster of that name.
func TestFollowerRemembersTheSourceThatIsGone(t *testing.T) {
	cr, f := withPools(reports())
	follower, shop := poolOf(cr, reports()), running("shop", 1)
	shop.UID = uid
	shop.Spec.PostgresConfiguration.Parameters = map[string]string{"max_connections": "700"}
	shop.Spec.Certificates = &cnpgv1.CertificatesConfiguration{ServerCASecret: "their-ca", ReplicationTLSSecret: "their-replication"}
	f.Source, f.Cluster = &observed.Source{PgStorageCluster: cr, Cluster: shop}, nil
	wanted := func() plan.Object {
		t.Helper()
		built, err := Build(follower, f, catalog.All(), config)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range built.Plan.Objects {
			if o.Key().Kind == "Cluster" {
				return o
			}
		}
		t.Fatal("no Cluster in the plan")
		return plan.Object{}
	}
	before := wanted()
	f.Cluster = &cnpgv1.Cluster{}
	if err := plan.Convert(before.Content.Object, f.Cluster); err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]*observed.Source{
		"the Cluster":          {PgStorageCluster: cr},
		"the PgStorageCluster": nil,
	} {
		f.Source = source
		if now := wanted(); now.Intent() != before.Intent() {
			t.Errorf("without %s it becomes\n%v\nand was\n%v", name, now.Content.Object, before.Content.Object)
		}
	}
	replaced := running("shop", 1)
	replaced.UID = "33333333-3333-4444-5555-666666666666"
	f.Source = &observed.Source{PgStorageCluster: cr, Cluster: replaced}
	if o := sourceOutcome(follower, f); o.Reason != v1alpha1.ReasonSourceReplaced {
		t.Errorf("another Cluster: %+v", o)
	}
}

func lagOf(bytes, seconds int64) *v1alpha1.FollowerLag {
	return &v1alpha1.FollowerLag{Bytes: &bytes, Seconds: &seconds}
}

func TestFollowerSaysHowFarItIs(t *testing.T) {
	const mega = 1 << 20
	for _, tc := range []struct {
		name      string
		receivers map[string]observed.Receiver
		status    metav1.ConditionStatus
		reason    string
		says      string
		lag       *v1alpha1.FollowerLag
	}{
		{"caught up", map[string]observed.Receiver{"shop-reports-1": {Streaming: true}, "shop-reports-2": {Streaming: true}}, metav1.ConditionTrue, v1alpha1.ReasonCaughtUp, "256Mi of WAL and 5m0s", lagOf(0, 0)},
		{"a standby of the pool is as far behind as both", map[string]observed.Receiver{"shop-reports-1": {Streaming: true, Behind: 200 * mega}, "shop-reports-2": {Streaming: true, Behind: 100 * mega}}, metav1.ConditionFalse, v1alpha1.ReasonLagging, "512Mi of WAL", lagOf(512*mega, 0)},
		{"within", map[string]observed.Receiver{"shop-reports-1": {Streaming: true, Behind: 200 * mega, Delay: 300}, "shop-reports-2": {Streaming: true}}, metav1.ConditionTrue, v1alpha1.ReasonCaughtUp, "", lagOf(256*mega, 512)},
		{"old commits", map[string]observed.Receiver{"shop-reports-1": {Streaming: true, Behind: 100, Delay: 301}, "shop-reports-2": {Streaming: true}}, metav1.ConditionFalse, v1alpha1.ReasonLagging, "maxLag.time is 5m0s", lagOf(0, 512)},
		{"no WAL", map[string]observed.Receiver{"shop-reports-1": {Delay: 40}, "shop-reports-2": {Streaming: true}}, metav1.ConditionFalse, v1alpha1.ReasonNotStreaming, "up to 1m4s old", lagOf(0, 64)},
		{"one says nothing", map[string]observed.Receiver{"shop-reports-1": {Streaming: true}}, metav1.ConditionUnknown, v1alpha1.ReasonNotReadBack, "not every instance", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cr, f := withPools(reports())
			follower := poolOf(cr, reports())
			f.Cluster, f.ReadBack.Receivers = running("shop-reports", 2), tc.receivers
			o := caughtUp(follower, f)
			status := metav1.ConditionFalse
			switch {
			case o.Unknown:
				status = metav1.ConditionUnknown
			case o.Kind == outcome.Done:
				status = metav1.ConditionTrue
			}
			if status != tc.status || o.Reason != tc.reason || !strings.Contains(o.Message, tc.says) || !o.Informative {
				t.Errorf("got %+v, want %s, %s and %q", o, tc.status, tc.reason, tc.says)
			}
			got := followerStatus(follower, f)
			if (got == nil) != (tc.lag == nil) || got != nil && !equality.Semantic.DeepEqual(got.Lag, tc.lag) {
				t.Errorf("status %+v, want lag %+v", got, tc.lag)
			}
		})
	}
}

// A pool that needs WAL which its cluster does not keep is cloned again. As long as anything of
// that is not known, it is not.
func TestPoolWhoseWALWasRemovedIsClonedAgain(t *testing.T) {
	stuck := observed.Receiver{Position: 0x1_02FF_FFFF, Stuck: true}
	kept := observed.KeptWAL{By: "shop-2", From: 0x1_0300_0000}
	for _, tc := range []struct {
		name   string
		change func(*observed.Cluster, *observed.Receiver)
		reason string
	}{
		{"removed", func(*observed.Cluster, *observed.Receiver) {}, v1alpha1.ReasonWALRemoved},
		{"kept", func(_ *observed.Cluster, r *observed.Receiver) { r.Position++ }, v1alpha1.ReasonNotStreaming},
		{"it moves", func(_ *observed.Cluster, r *observed.Receiver) { r.Stuck = false }, v1alpha1.ReasonNotStreaming},
		{"no position", func(_ *observed.Cluster, r *observed.Receiver) { r.Position = 0 }, v1alpha1.ReasonNotStreaming},
		{"the cluster does not say", func(f *observed.Cluster, _ *observed.Receiver) { f.Source.Kept = observed.KeptWAL{} }, v1alpha1.ReasonNotStreaming},
		{"no cluster", func(f *observed.Cluster, _ *observed.Receiver) { f.Source = nil }, v1alpha1.ReasonNotStreaming},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cr, f := withPools(reports())
			pool := poolOf(cr, reports())
			first := stuck
			f.Cluster, f.Source = running("shop-reports", 2), &observed.Source{Kept: kept}
			tc.change(&f, &first)
			f.ReadBack.Receivers = map[string]observed.Receiver{"shop-reports-1": first, "shop-reports-2": {Streaming: true}}
			o := caughtUp(pool, f)
			if o.Reason != tc.reason {
				t.Errorf("got %+v, want %s", o, tc.reason)
			}
			if tc.reason == v1alpha1.ReasonWALRemoved && !strings.Contains(o.Message, "from 1/2FFFFFF on, and shop-2 keeps it from 1/3000000 on") {
				t.Errorf("message %q", o.Message)
			}
			f.Pools["reports"] = poolOf(cr, reports(), condition(v1alpha1.ConditionFollowersCaughtUp, metav1.ConditionFalse, o.Reason, o.Message))
			f.Cluster = running("shop", 1)
			again := tc.reason == v1alpha1.ReasonWALRemoved
			if got := PoolsToDelete(cr, f, Config{ReadPools: true}); (len(got) == 1) != again {
				t.Errorf("%d pools are deleted", len(got))
			}
			if o := readPoolsOutcome(cr, f, Config{ReadPools: true}); (o.Reason == v1alpha1.ReasonCloningAgain) != again {
				t.Errorf("ReadPoolsReady: %+v", o)
			}
			f.Cluster.Status.ReadyInstances = 0
			if got := PoolsToDelete(cr, f, Config{ReadPools: true}); len(got) > 0 {
				t.Error("a pool is deleted while its cluster is not healthy")
			}
		})
	}
}

// A pool without room says so while it does not follow, whether Postgres answers or not.
func TestPoolWithoutRoomSaysSo(t *testing.T) {
	for _, tc := range []struct {
		name      string
		used      string
		receivers map[string]observed.Receiver
		reason    string
	}{
		{"it does not answer", "1010Mi", nil, v1alpha1.ReasonVolumeFull},
		{"no WAL", "1010Mi", map[string]observed.Receiver{"shop-reports-1": {}, "shop-reports-2": {}}, v1alpha1.ReasonVolumeFull},
		{"it streams", "1010Mi", map[string]observed.Receiver{"shop-reports-1": {Streaming: true}, "shop-reports-2": {Streaming: true}}, v1alpha1.ReasonCaughtUp},
		{"there is room", "1000Mi", nil, v1alpha1.ReasonNotReadBack},
	} {
		cr, f := withPools(reports())
		size, used := resource.MustParse("1Gi"), resource.MustParse(tc.used)
		f.Cluster, f.ReadBack.Receivers = running("shop-reports", 2), tc.receivers
		f.Claims = []observed.Claim{{Instance: "shop-reports-2", Memory: &v1alpha1.ObservedMemoryVolume{Size: &size, Used: &used}}}
		o := caughtUp(poolOf(cr, reports()), f)
		if o.Reason != tc.reason {
			t.Errorf("%s: %+v, want %s", tc.name, o, tc.reason)
		}
		if want := "instance shop-reports-2 is full: 1010Mi of 1Gi"; tc.reason == v1alpha1.ReasonVolumeFull && !strings.Contains(o.Message, want) {
			t.Errorf("%s: %q, want %q", tc.name, o.Message, want)
		}
	}
}

func TestFollowerThatIsBehindSaysWhyItIsNotReady(t *testing.T) {
	for _, tc := range []struct {
		policy   v1alpha1.StaleReadsPolicy
		behind   int64
		database string
		reason   string
	}{
		{v1alpha1.StaleReadsRefuse, 1 << 30, v1alpha1.ReasonClusterNotHealthy, v1alpha1.ReasonLagging},
		{v1alpha1.StaleReadsRefuse, 1 << 30, v1alpha1.ReasonDiskFull, v1alpha1.ReasonLagging},
		{v1alpha1.StaleReadsRefuse, 0, v1alpha1.ReasonClusterNotHealthy, v1alpha1.ReasonClusterNotHealthy},
		{v1alpha1.StaleReadsServe, 1 << 30, v1alpha1.ReasonClusterNotHealthy, v1alpha1.ReasonClusterNotHealthy},
		{v1alpha1.StaleReadsServe, 1 << 30, v1alpha1.ReasonDiskFull, v1alpha1.ReasonDiskFull},
	} {
		cr, f := withPools(reports())
		follower := poolOf(cr, reports())
		follower.Spec.Follow.StaleReads = tc.policy
		f.Cluster = running("shop-reports", 2)
		f.ReadBack.Receivers = map[string]observed.Receiver{"shop-reports-1": {Streaming: true, Behind: tc.behind}, "shop-reports-2": {Streaming: true}}
		o := withheld(follower, f, outcome.WaitFor(v1alpha1.ConditionDatabaseReady, tc.database, "0 of 2"))
		if o.Reason != tc.reason || o.Condition != v1alpha1.ConditionDatabaseReady {
			t.Errorf("%s, %d bytes behind: %+v, want %s", tc.policy, tc.behind, o, tc.reason)
		}
	}
}

func TestPoolsAreCaughtUpWhenEachIs(t *testing.T) {
	const c = v1alpha1.ConditionFollowersCaughtUp
	near := v1alpha1.ReadPool{Name: "near"}
	yes := condition(c, metav1.ConditionTrue, v1alpha1.ReasonCaughtUp, "")
	for _, tc := range []struct {
		name   string
		pools  []metav1.Condition
		kind   outcome.Kind
		reason string
		says   string
	}{
		{"both", []metav1.Condition{yes, yes}, outcome.Done, v1alpha1.ReasonCaughtUp, "2 read pools"},
		{"one is late", []metav1.Condition{yes, condition(c, metav1.ConditionFalse, v1alpha1.ReasonLagging, "1Gi behind")}, outcome.Wait, v1alpha1.ReasonLagging, "reports: 1Gi behind"},
		{"one does not say", []metav1.Condition{yes, condition(c, metav1.ConditionUnknown, v1alpha1.ReasonNotReadBack, "")}, outcome.Wait, v1alpha1.ReasonNotReadBack, "reports"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cr, f := withPools(near, reports())
			f.Pools["near"], f.Pools["reports"] = poolOf(cr, near, tc.pools[0]), poolOf(cr, reports(), tc.pools[1])
			o := poolsCaughtUp(cr, f)
			if o.Kind != tc.kind || o.Reason != tc.reason || !strings.Contains(o.Message, tc.says) || !o.Informative {
				t.Errorf("got %+v, want kind %d, %s and %q", o, tc.kind, tc.reason, tc.says)
			}
		})
	}
}
