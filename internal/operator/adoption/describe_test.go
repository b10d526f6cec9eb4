package adoption

import (
	"maps"
	"slices"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// live is a Cluster as CloudNativePG's webhook leaves it.
func live(t *testing.T, change func(*cnpgv1.Cluster)) *unstructured.Unstructured {
	t.Helper()
	c := &cnpgv1.Cluster{}
	c.SetGroupVersionKind(cnpgv1.SchemeGroupVersion.WithKind("Cluster"))
	c.Namespace, c.Name, c.Spec.Instances, c.Spec.ImageName = "prod", "shop", 3, "pg:16.4-bookworm"
	c.Spec.StorageConfiguration = cnpgv1.StorageConfiguration{Size: "10Gi", StorageClass: new("fast")}
	if change != nil {
		change(c)
	}
	c.Default()
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c)
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: raw}
}

func TestDescribe(t *testing.T) {
	sync := func(s cnpgv1.SynchronousReplicaConfiguration) func(*cnpgv1.Cluster) {
		return func(c *cnpgv1.Cluster) { c.Spec.PostgresConfiguration.Synchronous = &s }
	}
	required := cnpgv1.SynchronousReplicaConfiguration{Method: "first", Number: 2, DataDurability: "required", FailoverQuorum: true}
	preferred, promoted, strangers := required, required, required
	preferred.DataDurability, promoted.FailoverQuorum, strangers.StandbyNamesPre = "preferred", false, []string{"x"}
	for _, tc := range []struct {
		name       string
		change     func(*cnpgv1.Cluster)
		classes    Classes
		durability v1alpha1.DurabilityTier
		cnpg       string // the overrides
		needs      []string
		notes      string
		refused    string
	}{
		{"nothing of its own", nil, Classes{}, "Local", "", nil, "", ""},
		{"a quorum by priority", sync(required), Classes{}, "Quorum", "", nil, "", ""},
		{"preferred", sync(preferred), Classes{}, "Local", `{"postgresql":{"synchronous":{"dataDurability":"preferred","failoverQuorum":true,"method":"first","number":2}}}`, nil, "commits continue without a standby", ""},
		{"a failover without a quorum", sync(promoted), Classes{}, "Local", `{"postgresql":{"synchronous":{"dataDurability":"required","failoverQuorum":false,"method":"first","number":2}}}`, nil, "failoverQuorum is false", ""},
		{"standbys elsewhere", sync(strangers), Classes{}, "Local", `"standbyNamesPre":["x"]`, nil, "not its instances", ""},
		{"the old fields", func(c *cnpgv1.Cluster) { c.Spec.MinSyncReplicas, c.Spec.MaxSyncReplicas = 1, 2 }, Classes{}, "Local", `{"maxSyncReplicas":2,"minSyncReplicas":1}`, nil, "when too few are ready", ""},
		{"asynchronous commits", func(c *cnpgv1.Cluster) {
			c.Spec.PostgresConfiguration.Parameters = map[string]string{"synchronous_commit": "OFF"}
		}, Classes{}, "Async", "", nil, "", ""},
		{"no class", func(c *cnpgv1.Cluster) { c.Spec.StorageConfiguration.StorageClass = nil }, Classes{}, "Local", "", nil, "", "spec.storage.storageClass: the Cluster names no StorageClass"},
		{"the default class", func(c *cnpgv1.Cluster) { c.Spec.StorageConfiguration.StorageClass = nil }, Classes{Default: "fast"}, "Local", "", nil, "the default StorageClass fast", ""},
		{"the class of its claims", func(c *cnpgv1.Cluster) { c.Spec.StorageConfiguration.StorageClass = nil }, Classes{Data: "fast", Default: "slow"}, "Local", "", nil, "the StorageClass fast of its claims", ""},
		{"consent", func(c *cnpgv1.Cluster) { c.Spec.PriorityClassName = "high" }, Classes{}, "Local", `{"priorityClassName":"high"}`, []string{"priorityClassName"}, "", ""},
		{"a replica", func(c *cnpgv1.Cluster) { c.Spec.ReplicaCluster = &cnpgv1.ReplicaClusterConfiguration{Source: "a"} }, Classes{}, "Local", "", nil, "", "spec.replica: "},
		{"claims of devices", func(c *cnpgv1.Cluster) { c.Spec.Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}} }, Classes{}, "Local", "", nil, "", "spec.resources.claims: "},
		{"an image without a tag", func(c *cnpgv1.Cluster) { c.Spec.ImageName = "pg@sha256:aaaa" }, Classes{}, "Local", "", nil, "", "spec.imageName: "},
		{"options of initdb", func(c *cnpgv1.Cluster) {
			c.Spec.Bootstrap = &cnpgv1.BootstrapConfiguration{InitDB: &cnpgv1.BootstrapInitDB{Options: []string{"-k"}}} //nolint:staticcheck // deprecated, and therefore refused
		}, Classes{}, "Local", "", nil, "", "spec.bootstrap.initdb.options: "},
		{"recovery", func(c *cnpgv1.Cluster) {
			c.Spec.Bootstrap = &cnpgv1.BootstrapConfiguration{Recovery: &cnpgv1.BootstrapRecovery{Source: "a", Database: "shop", Owner: "shop"}}
		}, Classes{}, "Local", `{"bootstrap":{"recovery":{"database":"shop","owner":"shop","source":"a"}}}`, []string{"bootstrap.recovery"}, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, err := Describe(live(t, tc.change), tc.classes)
			if err != nil {
				t.Fatal(err)
			}
			s := d.Cluster.Spec
			got := ""
			if s.CNPG != nil {
				got = string(s.CNPG.Spec.Raw)
			}
			if tc.cnpg == "" && got != "" || !strings.Contains(got, tc.cnpg) {
				t.Errorf("overrides %s, want %s", got, tc.cnpg)
			}
			notes, refused := strings.Join(d.Notes, "; "), strings.Join(d.Refused, "; ")
			if s.Durability != tc.durability || !slices.Equal(d.Needs, tc.needs) || (notes == "") != (tc.notes == "") || !strings.Contains(notes, tc.notes) {
				t.Errorf("durability %s, needs %q, notes %q", s.Durability, d.Needs, notes)
			}
			if (refused == "") != (tc.refused == "") || !strings.Contains(refused, tc.refused) {
				t.Errorf("refused %q, want %q", refused, tc.refused)
			}
			if s.Defaults != v1alpha1.DefaultsCloudNativePG || s.Monitoring.PodMonitor != v1alpha1.PodMonitorDisabled {
				t.Errorf("spec %+v", s)
			}
			if tc.durability == v1alpha1.DurabilityQuorum && (s.Quorum.Standbys != 2 || s.Quorum.Method != v1alpha1.QuorumFirst) {
				t.Errorf("quorum %+v", s.Quorum)
			}
		})
	}
}

func TestParametersWithoutCloudNativePGsOwn(t *testing.T) {
	own := map[string]string{"work_mem": "8MB", "max_parallel_workers": "4"}
	d, err := Describe(live(t, func(c *cnpgv1.Cluster) { c.Spec.PostgresConfiguration.Parameters = maps.Clone(own) }), Classes{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(own, d.Cluster.Spec.Postgres.Parameters); diff != "" {
		t.Error(diff)
	}
	if d.Cluster.Spec.Postgres.Version != "16" || d.Cluster.Spec.Postgres.Image != "pg:16.4-bookworm" {
		t.Errorf("postgres %+v", d.Cluster.Spec.Postgres)
	}
}

func TestDiffAndRestarts(t *testing.T) {
	object := func(labels, spec map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"resourceVersion": "1", "labels": labels}, "spec": spec, "status": map[string]any{}}}
	}
	a := object(nil, map[string]any{"instances": int64(3), "storage": map[string]any{"size": "1024Mi"}, "postgresql": map[string]any{"parameters": map[string]any{"work_mem": "4MB", "shared_buffers": "1GB"}}, "logLevel": "info"})
	b := object(map[string]any{"x": "y"}, map[string]any{"instances": int64(3), "storage": map[string]any{"size": "1Gi"}, "postgresql": map[string]any{"parameters": map[string]any{"work_mem": "8MB", "shared_buffers": "2GB"}}, "resources": map[string]any{"requests": map[string]any{"cpu": "1"}}, "logLevel": "info"})
	changes := Diff(a, b)
	want := []Change{
		{"metadata.labels.x", "", "y"}, {"spec.postgresql.parameters.shared_buffers", "1GB", "2GB"}, {"spec.postgresql.parameters.work_mem", "4MB", "8MB"}, {"spec.resources.requests.cpu", "", "1"},
	}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Error(diff)
	}
	if got := Restarts(17, changes); !slices.Equal(got, []string{"spec.postgresql.parameters.shared_buffers", "spec.resources.requests.cpu"}) {
		t.Errorf("restarts %q", got)
	}
	if len(Diff(a, a)) > 0 {
		t.Error("an object differs from itself")
	}
}
