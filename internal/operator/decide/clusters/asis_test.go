package clusters

import (
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/durability"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// TestNamedFailureDomainsAreReadBack tempers what is promised by what CloudNativePG reports.
func TestNamedFailureDomainsAreReadBack(t *testing.T) {
	const zone = "topology.kubernetes.io/zone"
	three := int32(3)
	cr := shop(func(s *v1alpha1.PgStorageClusterSpec) {
		s.Instances, s.Durability = &three, v1alpha1.DurabilityQuorum
		s.Quorum = &v1alpha1.QuorumSpec{Standbys: 1, AcrossFailureDomain: zone}
	})
	in := func(zones ...string) *cnpgv1.Cluster {
		c := &cnpgv1.Cluster{}
		c.Spec.PostgresConfiguration.Synchronous = &cnpgv1.SynchronousReplicaConfiguration{Number: 1}
		c.Status.Topology = cnpgv1.Topology{SuccessfullyExtracted: true, NodesUsed: 3, Instances: map[cnpgv1.PodName]cnpgv1.PodTopologyLabels{}}
		for i, z := range zones {
			c.Status.Topology.Instances[cnpgv1.PodName("shop-"+string(rune('1'+i)))] = map[string]string{zone: z}
		}
		return c
	}
	for _, tc := range []struct {
		name     string
		cluster  *cnpgv1.Cluster
		standbys int
		want     string
		says     string
	}{
		{"each in its own", in("a", "b", "c"), 1, commitsKept, "another value of the node label " + zone},
		{"two in one", in("a", "a", "b"), 1, commitsMayBeLost, "2 instances have nodes with the same " + zone},
		{"two in one with two standbys", in("a", "a", "b"), 2, commitsKept, ""},
		{"a node without a name", in("a", "b", ""), 1, commitsUnknown, "reports no " + zone + " of the node of shop-3"},
		{"fewer than declared", in("a", "b"), 1, commitsUnknown, "does not report a node for every instance"},
		{"no database", nil, 1, commitsUnknown, "does not exist yet"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.cluster != nil {
				tc.cluster.Spec.PostgresConfiguration.Synchronous.Number = tc.standbys
			}
			e := v1alpha1.LossEvent{Event: "FailureDomainLoss", AcknowledgedCommits: commitsKept, Detail: "a standby with another value of the node label " + zone}
			Placed(&e, cr, tc.cluster, durability.Flush{})
			if e.AcknowledgedCommits != tc.want || !strings.Contains(e.Detail, tc.says) {
				t.Errorf("%+v, want %s %q", e, tc.want, tc.says)
			}
		})
	}
}

// adopted is the spec that describes a Cluster as it is.
func adopted(change func(*v1alpha1.PgStorageClusterSpec)) *v1alpha1.PgStorageCluster {
	return shop(func(s *v1alpha1.PgStorageClusterSpec) {
		s.Defaults, s.Resources, s.Workload = v1alpha1.DefaultsCloudNativePG, v1alpha1.ClusterResources{}, v1alpha1.WorkloadMixed
		s.Monitoring = &v1alpha1.Monitoring{PodMonitor: v1alpha1.PodMonitorDisabled}
		if change != nil {
			change(s)
		}
	})
}

// TestAdoptionOfWhatTheSpecDoesNotSay refuses what a Cluster has behind its spec.
func TestAdoptionOfWhatTheSpecDoesNotSay(t *testing.T) {
	env := func(names ...string) *cnpgv1.Cluster {
		c := &cnpgv1.Cluster{}
		for _, n := range names {
			c.Spec.Env = append(c.Spec.Env, corev1.EnvVar{Name: n, Value: "a"})
		}
		return c
	}
	says := func(json string) func(*v1alpha1.PgStorageClusterSpec) {
		return func(s *v1alpha1.PgStorageClusterSpec) {
			s.CNPG = &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(json)}}
		}
	}
	unsafe := &cnpgv1.Cluster{}
	unsafe.Spec.PostgresConfiguration.Parameters = map[string]string{"fsync": "off"}
	other := &cnpgv1.Cluster{Status: cnpgv1.ClusterStatus{PGDataImageInfo: &cnpgv1.ImageInfo{MajorVersion: 18}}}
	replica := &cnpgv1.Cluster{Spec: cnpgv1.ClusterSpec{ReplicaCluster: &cnpgv1.ReplicaClusterConfiguration{}}}
	for _, tc := range []struct {
		name    string
		change  func(*v1alpha1.PgStorageClusterSpec)
		adoptee *cnpgv1.Cluster
		refused string
	}{
		{"nothing", nil, &cnpgv1.Cluster{}, ""},
		{"the environment of the spec", says(`{"env": [{"name": "TZ", "value": "a"}]}`), env("TZ"), ""},
		{"another environment", says(`{"env": [{"name": "TZ", "value": "a"}]}`), env("TZ", "LD_PRELOAD"), "spec.env and spec.envFrom"},
		{"an environment", nil, env("LD_PRELOAD"), "spec.env and spec.envFrom"},
		{"fsync", nil, unsafe, "spec.postgresql.parameters[fsync]: off is unsafe"},
		{"another major", nil, other, "spec.postgres.version: it has major 17, and the instances run PostgreSQL 18"},
		{"a replica", nil, replica, "spec.replica"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := facts()
			f.Adoptee, f.Namesake = tc.adoptee, &observed.Namesake{AdoptBy: "shop"}
			o, held := ownership(adopted(tc.change), f)
			if held != (tc.refused != "") || !strings.Contains(o.Message, tc.refused) {
				t.Errorf("held %v: %s, want %q", held, o.Message, tc.refused)
			}
		})
	}
}

// TestAdoptedPlanSaysOnlyWhatTheSpecSays shows the fields of the Cluster of such a plan.
func TestAdoptedPlanSaysOnlyWhatTheSpecSays(t *testing.T) {
	f := facts()
	f.Cluster = &cnpgv1.Cluster{}
	f.Cluster.Spec.PostgresConfiguration.Parameters = map[string]string{"fsync": "off"}
	built, err := Build(adopted(nil), f, catalog.All(), config)
	if err != nil {
		t.Fatal(err)
	}
	spec, _ := built.Plan.Objects[0].Content.Object["spec"].(map[string]any)
	parameters, _ := spec["postgresql"].(map[string]any)["parameters"].(map[string]any)
	if len(spec) != 3 || len(parameters) != 1 || parameters["fsync"] != "on" {
		t.Errorf("the Cluster gets %v", spec)
	}
	// Checksums that are off are CloudNativePG's default, and do not stall the database.
	var g grounds
	g.compare(adopted(nil), "shop-1", observed.ReadBack{Settings: map[string]map[string]string{"shop-1": {"data_checksums": "off"}}})
	if o := g.outcome(adopted(nil)); o.Kind != outcome.Done || !strings.Contains(o.Message, "data checksums are off") {
		t.Errorf("outcome %+v", o)
	}
}
