package statemetrics

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/scheme"
)

func gathered(t *testing.T, objects ...client.Object) []*dto.MetricFamily {
	t.Helper()
	reader := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(objects...).Build()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(&Collector{Reader: reader})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// series are the metrics of objects as a scrape reads them, without those of other kinds.
func series(t *testing.T, prefix string, objects ...client.Object) string {
	t.Helper()
	var out strings.Builder
	for _, f := range gathered(t, objects...) {
		name, found := strings.CutPrefix(f.GetName(), prefix)
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			if found {
				fmt.Fprintf(&out, "%s{%s} %v\n", name, strings.Join(labels, ","), m.GetGauge().GetValue())
			}
		}
	}
	return out.String()
}

func quantity(text string) *resource.Quantity { return new(resource.MustParse(text)) }

// shop has a database of two instances, of which one is ready, on pool tank of node n1.
func shop() *v1alpha1.PgStorageCluster {
	cr := &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "shop", Generation: 2}}
	cr.Spec = v1alpha1.PgStorageClusterSpec{
		Profile: "zfs", Workload: v1alpha1.WorkloadOLTP, Durability: v1alpha1.DurabilityQuorum, Instances: new(int32(2)),
		Postgres:  v1alpha1.PostgresSpec{Version: "17"},
		Resources: v1alpha1.ClusterResources{Requests: map[corev1.ResourceName]resource.Quantity{corev1.ResourceMemory: resource.MustParse("2Gi")}},
	}
	cr.Status = v1alpha1.PgStorageClusterStatus{
		ObservedGeneration: 1,
		Conditions: []metav1.Condition{
			{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: "DatabaseNotReady"},
			{Type: v1alpha1.ConditionDurabilityVerified, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonDurabilityWeakened},
		},
		Database:   &v1alpha1.DatabaseStatus{Instances: new(int32(2)), ReadyInstances: new(int32(1))},
		Durability: &v1alpha1.DurabilityStatus{Losses: []v1alpha1.LossEvent{{Event: "NodeLoss", AcknowledgedCommits: "MayBeLost"}}},
		Parameters: []v1alpha1.Parameter{{Name: "shared_buffers", Value: "512MB"}},
		Volumes: []v1alpha1.VolumeStatus{
			{Claim: "shop-1", Instance: "shop-1", Role: "Data", Node: "n1", Dataset: "tank/pgdata/pvc-1"},
			{Claim: "shop-2", Instance: "shop-2", Role: "Data"},
		},
	}
	return cr
}

func TestSites(t *testing.T) {
	site := func(name string, role v1alpha1.SiteRole) *v1alpha1.PgStorageCluster {
		cr := &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "shop"}}
		cr.Spec.Topology = &v1alpha1.TopologySpec{Self: name, Primary: "north"}
		cr.Status.Topology = &v1alpha1.TopologyStatus{Role: role}
		return cr
	}
	got := series(t, "pgstorage_cluster_", site("north", v1alpha1.SiteWrites), site("south", v1alpha1.SiteFollows))
	for _, want := range []string{
		"durability_info{name=shop,namespace=north,tier=} 1\n",
		"follower_info{name=shop,namespace=south,source=site north} 1\n",
		"site_info{name=shop,namespace=north,primary=north,role=Writes,site=north} 1\n",
		"site_info{name=shop,namespace=south,primary=north,role=Follows,site=south} 1\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "durability_info{name=shop,namespace=south") || strings.Contains(got, "follower_info{name=shop,namespace=north") {
		t.Error(got)
	}
}

func TestClusters(t *testing.T) {
	fresh := &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "new", Generation: 1}}
	fresh.Spec.Durability, fresh.Spec.Suspend = v1alpha1.DurabilityLocal, new(true)
	pool := &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "shop-far"}}
	pool.Spec.Durability, pool.Spec.Follow = v1alpha1.DurabilityLocal, &v1alpha1.FollowSpec{Cluster: "shop"}
	want := `condition{condition=DurabilityVerified,name=shop,namespace=prod,reason=DurabilityWeakened,status=False} 1
condition{condition=Ready,name=shop,namespace=prod,reason=DatabaseNotReady,status=False} 1
durability_info{name=new,namespace=prod,tier=Local} 1
durability_info{name=shop,namespace=prod,tier=Quorum} 1
durability_weakened{durability=Quorum,name=shop,namespace=prod,reason=DurabilityWeakened} 1
follower_info{name=shop-far,namespace=prod,source=shop} 1
info{name=new,namespace=prod,postgres=,profile=,workload=} 1
info{name=shop,namespace=prod,postgres=17,profile=zfs,workload=OLTP} 1
info{name=shop-far,namespace=prod,postgres=,profile=,workload=} 1
instances{name=shop,namespace=prod} 2
instances_ready{name=shop,namespace=prod} 1
instances_wanted{name=new,namespace=prod} 1
instances_wanted{name=shop,namespace=prod} 2
instances_wanted{name=shop-far,namespace=prod} 1
loss_info{commits=MayBeLost,event=NodeLoss,name=shop,namespace=prod} 1
status_outdated{name=new,namespace=prod} 1
status_outdated{name=shop,namespace=prod} 1
status_outdated{name=shop-far,namespace=prod} 0
suspended{name=new,namespace=prod} 1
suspended{name=shop,namespace=prod} 0
suspended{name=shop-far,namespace=prod} 0
volume_info{claim=shop-1,dataset=tank/pgdata/pvc-1,instance=shop-1,name=shop,namespace=prod,node=n1,pool=tank,role=Data} 1
volume_info{claim=shop-2,dataset=,instance=shop-2,name=shop,namespace=prod,node=,pool=,role=Data} 1
`
	if diff := cmp.Diff(want, series(t, "pgstorage_cluster_", shop(), fresh, pool)); diff != "" {
		t.Error(diff)
	}
}

func zfsProfile() *v1alpha1.PgStorageProfile {
	p := &v1alpha1.PgStorageProfile{ObjectMeta: metav1.ObjectMeta{Name: "zfs"}}
	p.Spec.Type, p.Spec.NodeSelector = v1alpha1.ProfileTypeZFSLocalPV, map[string]string{"pool": "tank"}
	p.Status = v1alpha1.PgStorageProfileStatus{
		Conditions:   []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonReady}},
		Nodes:        []v1alpha1.ProfileNode{{Name: "n1", Ready: metav1.ConditionTrue}, {Name: "n2", Ready: metav1.ConditionTrue}, {Name: "n3", Ready: metav1.ConditionFalse}},
		Clusters:     new(int32(4)),
		FlushLatency: &metav1.Duration{Duration: 12 * time.Millisecond},
	}
	return p
}

func TestProfiles(t *testing.T) {
	external := &v1alpha1.PgStorageProfile{ObjectMeta: metav1.ObjectMeta{Name: "cloud"}}
	external.Spec.Type = v1alpha1.ProfileTypeExternal
	want := `clusters{profile=zfs} 4
condition{condition=Ready,profile=zfs,reason=Ready,status=True} 1
flush_latency_seconds{profile=zfs} 0.012
info{profile=cloud,type=External} 1
info{profile=zfs,type=ZFSLocalPV} 1
nodes{profile=zfs,ready=False} 1
nodes{profile=zfs,ready=True} 2
nodes{profile=zfs,ready=Unknown} 0
`
	if diff := cmp.Diff(want, series(t, "pgstorage_profile_", zfsProfile(), external)); diff != "" {
		t.Error(diff)
	}
}

// tank is the pool of node n1: a mirror with a disk that failed, and a spare.
func tank() *v1alpha1.PgNodeStorage {
	n := &v1alpha1.PgNodeStorage{ObjectMeta: metav1.ObjectMeta{Name: "zfs.n1"}}
	n.Spec.NodeName, n.Spec.Profile = "n1", "zfs"
	n.Status = v1alpha1.PgNodeStorageStatus{
		Conditions:  []metav1.Condition{{Type: v1alpha1.ConditionDevicesHealthy, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonPoolUnhealthy}},
		VolumeCount: new(int32(3)),
		Volumes:     []v1alpha1.ObservedVolume{{Name: "tank/pgdata/pvc-1", Differs: []v1alpha1.ObservedProperty{{Name: "recordsize"}, {Name: "compression"}}}},
		ARC:         &v1alpha1.ObservedARC{Size: quantity("1Gi"), Max: quantity("4Gi")},
		Pool: &v1alpha1.ObservedPool{Name: "tank", Health: "DEGRADED", FullAt: new(metav1.Unix(1000, 0)), Vdevs: []v1alpha1.ObservedVdev{
			{Name: "mirror-0", State: "DEGRADED", ChecksumErrors: 9},
			{Name: "sda", Depth: 1, State: "ONLINE", ChecksumErrors: 2},
			{Name: "sdb", Depth: 1, State: "FAULTED", ReadErrors: 3, ChecksumErrors: 1},
			{Name: "sdc", State: "AVAIL"},
		}},
	}
	return n
}

func node(name, memory string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}}}
}

func TestStorages(t *testing.T) {
	want := `condition{condition=DevicesHealthy,node=n1,profile=zfs,reason=PoolUnhealthy,status=False,storage=zfs.n1} 1
device_errors{node=n1,operation=checksum,profile=zfs,storage=zfs.n1} 3
device_errors{node=n1,operation=read,profile=zfs,storage=zfs.n1} 3
device_errors{node=n1,operation=write,profile=zfs,storage=zfs.n1} 0
devices{node=n1,profile=zfs,state=AVAIL,storage=zfs.n1} 1
devices{node=n1,profile=zfs,state=FAULTED,storage=zfs.n1} 1
devices{node=n1,profile=zfs,state=ONLINE,storage=zfs.n1} 1
drifted_properties{node=n1,profile=zfs,storage=zfs.n1} 2
full_timestamp_seconds{node=n1,profile=zfs,storage=zfs.n1} 1000
info{health=DEGRADED,node=n1,pool=tank,profile=zfs,storage=zfs.n1} 1
volumes{node=n1,profile=zfs,storage=zfs.n1} 3
`
	if diff := cmp.Diff(want, series(t, "pgstorage_nodestorage_", tank())); diff != "" {
		t.Error(diff)
	}
}

// The budget is that of nodes with a pool; the second profile there reports the same ARC.
func TestMemory(t *testing.T) {
	second := tank()
	second.Name, second.Spec.Profile = "other.n1", "other"
	want := `arc_max_bytes{node=n1} 4.294967296e+09
arc_size_bytes{node=n1} 1.073741824e+09
instance_memory_requests_bytes{node=n1} 2.147483648e+09
instance_shared_buffers_bytes{node=n1} 5.36870912e+08
instances{node=n1} 1
memory_allocatable_bytes{node=n1} 8.589934592e+09
`
	if diff := cmp.Diff(want, series(t, "pgstorage_node_", tank(), second, shop(), node("n1", "8Gi"), node("n2", "8Gi"))); diff != "" {
		t.Error(diff)
	}
}

// What a status says cannot fail the scrape of the others, and labels stay short.
func TestHostileStatus(t *testing.T) {
	out := make(chan prometheus.Metric, 2)
	sink{out}.conditions(profileCondition, []metav1.Condition{
		{Type: "A\xff", Status: metav1.ConditionTrue, Reason: "R"}, {Type: "B", Status: metav1.ConditionTrue, Reason: strings.Repeat("r", 1024)},
	}, "p")
	close(out)
	var got []string
	for metric := range out {
		m := &dto.Metric{}
		if err := metric.Write(m); err != nil {
			t.Fatal(err)
		}
		for _, l := range m.GetLabel() {
			got = append(got, l.GetName()+"="+l.GetValue())
		}
	}
	if want := []string{"condition=B", "profile=p", "reason=", "status=True"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The same objects have series on each scrape, and the others are counted.
func TestBounds(t *testing.T) {
	var items []v1alpha1.PgStorageProfile
	for i := range mostObjects + 7 {
		items = append(items, v1alpha1.PgStorageProfile{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p%05d", i)}})
	}
	slices.Reverse(items)
	out := make(chan prometheus.Metric, 1)
	kept := bounded(sink{out}, "PgStorageProfile", items)
	if len(kept) != mostObjects || kept[0].Name != "p00000" || kept[mostObjects-1].Name != fmt.Sprintf("p%05d", mostObjects-1) {
		t.Errorf("%d kept, from %s", len(kept), kept[0].Name)
	}
	m := &dto.Metric{}
	if err := (<-out).Write(m); err != nil || m.GetGauge().GetValue() != 7 {
		t.Errorf("%v, %v", m, err)
	}
}

// Namespaces take turns, whatever the order in which the cache lists their objects.
func TestInTurns(t *testing.T) {
	for _, tc := range []struct {
		limit int
		want  string
	}{
		{0, ""},
		{2, "a/0 b/0"},
		{4, "a/0 a/1 b/0 c/0"},
		{5, "a/0 a/1 b/0 b/1 c/0"},
		{7, "a/0 a/1 a/2 a/3 b/0 b/1 c/0"},
		{8, "a/0 a/1 a/2 a/3 a/4 b/0 b/1 c/0"},
		{9, "a/0 a/1 a/2 a/3 a/4 b/0 b/1 c/0"},
	} {
		var all []*v1alpha1.PgStorageCluster
		for _, name := range []string{"c/0", "a/3", "a/0", "b/1", "a/4", "a/1", "b/0", "a/2"} {
			cr := &v1alpha1.PgStorageCluster{}
			cr.Namespace, cr.Name, _ = strings.Cut(name, "/")
			all = append(all, cr)
		}
		var got []string
		for _, cr := range InTurns(all, tc.limit, AsNamed) {
			got = append(got, cr.Namespace+"/"+cr.Name)
		}
		if text := strings.Join(got, " "); text != tc.want {
			t.Errorf("%d: %s, want %s", tc.limit, text, tc.want)
		}
	}
}

// Names and help are as Prometheus recommends.
func TestNames(t *testing.T) {
	problems, err := promlint.NewWithMetricFamilies(gathered(t, shop(), zfsProfile(), tank(), node("n1", "8Gi"))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// The memory of a pod includes its volumes in memory.
func TestRequestsIncludeVolumesInMemory(t *testing.T) {
	storage := &v1alpha1.PgNodeStorage{ObjectMeta: metav1.ObjectMeta{Name: "cache.n1"}}
	storage.Spec = v1alpha1.PgNodeStorageSpec{NodeName: "n1", Profile: "cache", Memory: &v1alpha1.NodeMemory{}}
	cr := &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "tests"}}
	cr.Spec.Storage.Size = resource.MustParse("1Gi")
	cr.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("512Mi")}
	cr.Status.Volumes = []v1alpha1.VolumeStatus{{Claim: "tests-1", Role: "Data", Node: "n1", Path: "/run/pgstorage/memory/cache/pvc-1/ab"}}
	want := `instance_memory_requests_bytes{node=n1} 1.610612736e+09
instance_shared_buffers_bytes{node=n1} 0
instances{node=n1} 1
`
	if diff := cmp.Diff(want, series(t, "pgstorage_node_", storage, cr)); diff != "" {
		t.Error(diff)
	}
}

// A database that requests a huge amount does not hide the others of its node.
func TestRequestsDoNotWrapAround(t *testing.T) {
	huge := shop()
	huge.Name = "huge"
	huge.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("8Ei")}
	want := "requests_bytes{node=n1} 9.22337203900226e+18\n"
	if diff := cmp.Diff(want, series(t, "pgstorage_node_instance_memory_", tank(), shop(), huge)); diff != "" {
		t.Error(diff)
	}
}

// A snapshot whose branch was deleted without its finalizer is garbage.
func TestBranch(t *testing.T) {
	b := &v1alpha1.PgStorageBranch{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "pr-1", UID: "uid"}}
	b.Spec.Source.Cluster = "shop"
	b.Status = v1alpha1.PgStorageBranchStatus{
		Space: quantity("3Mi"), ExpirationTime: new(metav1.NewTime(time.Unix(100, 0))),
		Conditions: []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Ready"}},
	}
	snapshot := func(name, uid string) *snapshotv1.VolumeSnapshot {
		return &snapshotv1.VolumeSnapshot{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: name, Labels: naming.BranchLabels("pr-1", uid)}}
	}
	want := `condition{branch=pr-1,condition=Ready,namespace=prod,reason=Ready,status=True} 1
expiration_timestamp_seconds{branch=pr-1,namespace=prod} 100
info{branch=pr-1,independent=false,namespace=prod,source=shop} 1
orphaned_snapshots{namespace=prod} 1
space_bytes{branch=pr-1,namespace=prod} 3.145728e+06
`
	if diff := cmp.Diff(want, series(t, "pgstorage_branch_", b, snapshot("a", "uid"), snapshot("b", "older"))); diff != "" {
		t.Error(diff)
	}
	if got := series(t, "pgstorage_branch_", snapshot("b", "older")); got != "" {
		t.Errorf("without a branch: %s", got)
	}
}
