package clusters

import (
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// ephemeral is a cluster that keeps nothing.
func ephemeral(change func(*v1alpha1.PgStorageClusterSpec)) *v1alpha1.PgStorageCluster {
	return shop(func(s *v1alpha1.PgStorageClusterSpec) {
		s.Durability, s.Storage.Size = v1alpha1.DurabilityEphemeral, resource.MustParse("2Gi")
		if change != nil {
			change(s)
		}
	})
}

// inMemory are the facts with a profile of type Memory.
func inMemory(f observed.Cluster) observed.Cluster {
	f.Profile.Name = "standard"
	f.Profile.Spec = v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeMemory, Memory: &v1alpha1.MemoryProfile{MaxPerNode: resource.MustParse("16Gi")}}
	return f
}

func withOverrides(json string) func(*v1alpha1.PgStorageClusterSpec) {
	return func(s *v1alpha1.PgStorageClusterSpec) {
		s.CNPG = &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(json)}}
	}
}

func withTier(t v1alpha1.DurabilityTier) func(*v1alpha1.PgStorageClusterSpec) {
	return func(s *v1alpha1.PgStorageClusterSpec) { s.Durability = t }
}

func TestATierFitsItsProfile(t *testing.T) {
	const (
		keeps  = "spec.durability: Ephemeral keeps nothing, and profile standard keeps its volumes; set Local, or choose a profile of type Memory"
		loses  = "spec.profile: volumes of profile standard are lost with the next boot of their node. Set spec.durability: Ephemeral to accept the loss of the database, or list the profile in spec.readPools of another cluster"
		backup = ": durability Ephemeral keeps nothing, so nothing of it is archived or backed up. Remove it, or choose another tier and a profile that keeps its volumes"
	)
	follower := func(s *v1alpha1.PgStorageClusterSpec) { s.Follow = &v1alpha1.FollowSpec{Cluster: "main"} }
	for _, tc := range []struct {
		name    string
		profile v1alpha1.ProfileType
		cr      *v1alpha1.PgStorageCluster
		want    string
	}{
		{"Ephemeral in memory", v1alpha1.ProfileTypeMemory, ephemeral(nil), ""},
		{"Ephemeral on a profile that does not exist", "", ephemeral(nil), ""},
		{"Ephemeral on a StorageClass", v1alpha1.ProfileTypeExternal, ephemeral(nil), keeps},
		{"Ephemeral on ZFS", v1alpha1.ProfileTypeZFSLocalPV, ephemeral(nil), keeps},
		{"Ephemeral on RBD", v1alpha1.ProfileTypeCephRBD, ephemeral(nil), keeps},
		{"Ephemeral on S3", v1alpha1.ProfileTypeS3NBD, ephemeral(nil), keeps},
		{"Local on a StorageClass", v1alpha1.ProfileTypeExternal, shop(nil), ""},
		{"Local in memory", v1alpha1.ProfileTypeMemory, shop(nil), loses},
		{"Async in memory", v1alpha1.ProfileTypeMemory, shop(withTier(v1alpha1.DurabilityAsync)), loses},
		{"Quorum in memory", v1alpha1.ProfileTypeMemory, quorumOf(3), loses},
		{"a follower in memory", v1alpha1.ProfileTypeMemory, shop(follower), ""},
		{"a backup of memory", v1alpha1.ProfileTypeMemory, ephemeral(withOverrides(`{"backup":{"retentionPolicy":"7d"}}`)), "spec.cnpg.spec.backup" + backup},
		{"a plugin over memory", v1alpha1.ProfileTypeMemory, ephemeral(withOverrides(`{"plugins":[{"name":"barman-cloud.cloudnative-pg.io","isWALArchiver":true}]}`)), "spec.cnpg.spec.plugins" + backup},
		{"a backup on a profile that does not exist", "", ephemeral(withOverrides(`{"backup":{}}`)), "spec.cnpg.spec.backup" + backup},
		{"another override", v1alpha1.ProfileTypeMemory, ephemeral(withOverrides(`{"affinity":{"topologyKey":"zone"}}`)), ""},
		{"an override that is no object", v1alpha1.ProfileTypeMemory, ephemeral(withOverrides(`[]`)), ""},
		{"a backup of another tier", v1alpha1.ProfileTypeExternal, shop(withOverrides(`{"backup":{"retentionPolicy":"7d"}}`)), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var p *v1alpha1.PgStorageProfile
			if tc.profile != "" {
				p = &v1alpha1.PgStorageProfile{Spec: v1alpha1.PgStorageProfileSpec{Type: tc.profile}}
			}
			if diff := cmp.Diff(tc.want, refusedTier(tc.cr, p)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// ready is a CloudNativePG Cluster with one instance that runs.
func ready() *cnpgv1.Cluster {
	return &cnpgv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "prod", UID: "1"},
		Status: cnpgv1.ClusterStatus{
			Instances: 1, ReadyInstances: 1, CurrentPrimary: "shop-1", TargetPrimary: "shop-1",
			Conditions: []metav1.Condition{{Type: string(cnpgv1.ConditionClusterReady), Status: metav1.ConditionTrue}},
		},
	}
}

// A refusal applies nothing, and deletes nothing: the plan still lists every object.
func TestARefusedTierHoldsARunningDatabase(t *testing.T) {
	for _, tc := range []struct {
		name    string
		cr      *v1alpha1.PgStorageCluster
		facts   observed.Cluster
		refused string
	}{
		{"Ephemeral on a StorageClass", ephemeral(nil), facts(), "spec.durability: "},
		{"Local in memory", ephemeral(withTier(v1alpha1.DurabilityLocal)), inMemory(facts()), "spec.profile: "},
		{"a backup of memory", ephemeral(withOverrides(`{"backup":{"retentionPolicy":"7d"}}`)), inMemory(facts()), "spec.cnpg.spec.backup: "},
	} {
		for _, live := range []*cnpgv1.Cluster{nil, ready()} {
			f := tc.facts
			f.Cluster = live
			built, err := Build(tc.cr, f, catalog.All(), config)
			if err != nil {
				t.Fatal(err)
			}
			refusedBy(t, built, v1alpha1.ReasonInvalidSpec, tc.refused)
			for _, stage := range []plan.Stage{plan.StageStorage, plan.StageDatabase, plan.StageReadPools, plan.StageMonitors} {
				if gate, held := built.Plan.GateOf(stage); !held || gate.Reason != v1alpha1.ReasonInvalidSpec {
					t.Errorf("%s, exists %v: stage %s is held %v: %+v", tc.name, live != nil, stage, held, gate)
				}
			}
			if built.intent("shop") == "" {
				t.Errorf("%s, exists %v: the plan does not list the Cluster", tc.name, live != nil)
			}
			if o := built.databaseOutcome(tc.cr, f); o.Kind != outcome.Wait || !strings.Contains(o.Message, "nothing is applied to the database: "+tc.refused) {
				t.Errorf("%s, exists %v: %+v", tc.name, live != nil, o)
			}
		}
	}
}

// parametersOf the Cluster that a plan has.
func parametersOf(t *testing.T, cr *v1alpha1.PgStorageCluster, f observed.Cluster) map[string]string {
	t.Helper()
	built, err := Build(cr, f, catalog.All(), config)
	if err != nil {
		t.Fatal(err)
	}
	if gate, held := built.Plan.GateOf(plan.StageDatabase); held {
		t.Errorf("held: %+v", gate)
	}
	out := map[string]string{}
	for _, p := range built.Parameters {
		out[p.Name] = p.Value
	}
	return out
}

// Others that replay the WAL need its page images: standbys and read pools.
func TestEphemeralInMemoryIsNotFlushed(t *testing.T) {
	two := int32(2)
	pools := func(s *v1alpha1.PgStorageClusterSpec) {
		s.ReadPools = []v1alpha1.ReadPool{{Name: "reports", Profile: "standard"}}
	}
	for _, tc := range []struct {
		name   string
		cr     *v1alpha1.PgStorageCluster
		change func(*observed.Cluster)
		images string
	}{
		{"a new database", ephemeral(nil), nil, "off"},
		{"one that runs", ephemeral(nil), func(f *observed.Cluster) { f.Cluster = ready() }, "off"},
		{"two instances", ephemeral(func(s *v1alpha1.PgStorageClusterSpec) { s.Instances = &two }), func(f *observed.Cluster) { f.Cluster = ready() }, "on"},
		{"with a read pool", ephemeral(pools), nil, "on"},
		{"with a stranger that streams", ephemeral(nil), func(f *observed.Cluster) {
			f.Cluster, f.ReadBack.Followers = ready(), []string{"stranger"}
		}, "on"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := inMemory(facts())
			if tc.change != nil {
				tc.change(&f)
			}
			got := parametersOf(t, tc.cr, f)
			for name, want := range map[string]string{"fsync": "off", "synchronous_commit": "off", "full_page_writes": tc.images, "max_wal_size": "204MB"} {
				if got[name] != want {
					t.Errorf("%s = %q, want %q", name, got[name], want)
				}
			}
		})
	}
}

// CloudNativePG decides the rest: also whether there are data checksums.
func TestEphemeralAsItIsSetsOnlyWhatTheTierMeans(t *testing.T) {
	got := parametersOf(t, ephemeral(func(s *v1alpha1.PgStorageClusterSpec) { s.Defaults = v1alpha1.DefaultsCloudNativePG }), inMemory(facts()))
	if diff := cmp.Diff(map[string]string{"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}, got); diff != "" {
		t.Error(diff)
	}
}

// No setting of the tier is a weakness of it; damage that stays unnoticed is.
func TestEphemeralIsVerified(t *testing.T) {
	const verified = "durability Ephemeral keeps no commit, which no role, database or setting can weaken. Every instance reports safe values of the settings that hide damage"
	for _, tc := range []struct {
		name    string
		change  func(*observed.Cluster)
		reason  string
		message string
	}{
		{"as the tier has it", nil, v1alpha1.ReasonVerified, verified},
		{"safer", func(f *observed.Cluster) { f.ReadBack.Settings["shop-1"]["fsync"] = "on" }, v1alpha1.ReasonVerified, verified},
		{"a role with less", func(f *observed.Cluster) {
			f.ReadBack.Overrides = []observed.Override{{Role: "app", Name: "synchronous_commit", Value: "off"}}
		}, v1alpha1.ReasonVerified, verified},
		{"no checksums", func(f *observed.Cluster) { f.ReadBack.Settings["shop-1"]["data_checksums"] = "off" }, v1alpha1.ReasonDurabilityWeakened, "data_checksums is off"},
		{"erased pages", func(f *observed.Cluster) { f.ReadBack.Settings["shop-1"]["zero_damaged_pages"] = "on" }, v1alpha1.ReasonDurabilityWeakened, "zero_damaged_pages is on"},
		{"not read", func(f *observed.Cluster) { f.ReadBack.Settings = nil }, v1alpha1.ReasonNotReadBack, "not every instance reports"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cr := ephemeral(nil)
			f := inMemory(proved(t, cr))
			for _, name := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
				f.ReadBack.Settings["shop-1"][name] = "off"
			}
			if tc.change != nil {
				tc.change(&f)
			}
			if o := groundsOf(cr, f).outcome(cr); o.Reason != tc.reason || !strings.Contains(o.Message, tc.message) {
				t.Errorf("%s: %s", o.Reason, o.Message)
			}
		})
	}
}

// The status promises nothing, whatever was read back.
func TestStatusOfEphemeralSaysWhatIsLost(t *testing.T) {
	three := int32(3)
	for _, tc := range []struct {
		cr   *v1alpha1.PgStorageCluster
		node string
	}{{ephemeral(nil), "Lost"}, {ephemeral(func(s *v1alpha1.PgStorageClusterSpec) { s.Instances = &three }), commitsMayBeLost}} {
		for _, f := range []observed.Cluster{inMemory(facts()), inMemory(proved(t, tc.cr))} {
			d := durabilityOf(tc.cr, f)
			if d.Tier != v1alpha1.DurabilityEphemeral || d.Acknowledged != "before it is flushed, to memory that ends with its node" {
				t.Errorf("%s: %s", d.Tier, d.Acknowledged)
			}
			for event, want := range map[string]string{"ProcessCrash": commitsMayBeLost, "NodeLoss": tc.node, "SiteLoss": "Lost"} {
				if l := lossOf(t, d, event); l.AcknowledgedCommits != want {
					t.Errorf("%+v, want %s", l, want)
				}
			}
		}
	}
}
