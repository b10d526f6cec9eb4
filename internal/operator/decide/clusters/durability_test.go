package clusters

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// onNodes is what CloudNativePG reports for instances on so many nodes.
func onNodes(instances int, nodes int32) cnpgv1.Topology {
	out := cnpgv1.Topology{SuccessfullyExtracted: true, NodesUsed: nodes, Instances: map[cnpgv1.PodName]cnpgv1.PodTopologyLabels{}}
	for i := range instances {
		out.Instances[cnpgv1.PodName(instanceName(i))] = nil
	}
	return out
}

func instanceName(i int) string { return fmt.Sprintf("shop-%d", i+1) }

// sound are the settings of an instance that durability rests on.
func sound() map[string]string {
	return map[string]string{
		"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "wal_level": "logical", "wal_sync_method": "fdatasync",
		"data_sync_retry": "off", "zero_damaged_pages": "off", "ignore_invalid_pages": "off", "ignore_checksum_failure": "off",
		"ignore_system_indexes": "off", "data_checksums": "on", "synchronous_standby_names": `ANY 1 ("shop-2","shop-3","shop-1")`,
	}
}

// proved are the facts about a healthy database on nodes of its own whose instances
// report everything that durability rests on.
func proved(t *testing.T, cr *v1alpha1.PgStorageCluster) observed.Cluster {
	t.Helper()
	n := int(Instances(cr))
	f := facts()
	f.Cluster = &cnpgv1.Cluster{Status: cnpgv1.ClusterStatus{
		Instances: n, ReadyInstances: n, CurrentPrimary: "shop-1", TargetPrimary: "shop-1", Topology: onNodes(n, int32(n)),
		Conditions: []metav1.Condition{{Type: string(cnpgv1.ConditionClusterReady), Status: metav1.ConditionTrue}},
	}}
	if cr.Spec.Durability == v1alpha1.DurabilityQuorum {
		f.Cluster.Spec.PostgresConfiguration.Synchronous = &cnpgv1.SynchronousReplicaConfiguration{Number: 1, DataDurability: cnpgv1.DataDurabilityLevelRequired, FailoverQuorum: true}
	}
	f.ReadBack = observed.ReadBack{Instances: map[string]map[string]float64{}, Settings: map[string]map[string]string{}, OverridesRead: true}
	for i := range n {
		f.Cluster.Status.InstanceNames = append(f.Cluster.Status.InstanceNames, instanceName(i))
		f.ReadBack.Instances[instanceName(i)] = map[string]float64{"shared_buffers": 1}
		f.ReadBack.Settings[instanceName(i)] = sound()
	}
	// Also names that no instance has now are the cluster's own.
	f.Cluster.Status.InstanceNames = append(f.Cluster.Status.InstanceNames, "shop-2", "shop-3")
	return f
}

func quorumOf(instances int32) *v1alpha1.PgStorageCluster {
	return shop(func(s *v1alpha1.PgStorageClusterSpec) {
		s.Instances, s.Durability = &instances, v1alpha1.DurabilityQuorum
	})
}

// durabilityOf a database on a profile of a kind in the catalogue.
func durabilityOf(cr *v1alpha1.PgStorageCluster, f observed.Cluster) *v1alpha1.DurabilityStatus {
	v, _ := volumes(catalog.All(), f.Profile)
	return durabilityStatus(cr, f, v.Flush)
}

func lossOf(t *testing.T, d *v1alpha1.DurabilityStatus, event string) v1alpha1.LossEvent {
	t.Helper()
	for _, l := range d.Losses {
		if l.Event == event {
			return l
		}
	}
	t.Fatalf("no %s among %+v", event, d.Losses)
	return v1alpha1.LossEvent{}
}

// Any q standbys confirm a commit, so that a node's loss keeps it only where fewer of
// them can be on the primary's node.
func TestNodeLossFollowsThePlacement(t *testing.T) {
	for _, tc := range []struct {
		name      string
		instances int32
		needed    int
		topology  cnpgv1.Topology
		want      string
	}{
		{"every instance on a node of its own", 3, 1, onNodes(3, 3), commitsKept},
		{"two of two", 2, 1, onNodes(2, 2), commitsKept},
		{"three on two nodes: one shares", 3, 1, onNodes(3, 2), commitsMayBeLost},
		{"three on two nodes, and both standbys confirm", 3, 2, onNodes(3, 2), commitsKept},
		{"two on one node", 2, 1, onNodes(2, 1), commitsMayBeLost},
		{"three on one node", 3, 2, onNodes(3, 1), commitsMayBeLost},
		{"a pod without a node", 2, 1, cnpgv1.Topology{}, commitsUnknown},
		{"an instance without a pod", 3, 1, onNodes(2, 2), commitsUnknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cr := quorumOf(tc.instances)
			f := proved(t, cr)
			f.Cluster.Status.Topology = tc.topology
			f.Cluster.Spec.PostgresConfiguration.Synchronous.Number = tc.needed
			if l := lossOf(t, durabilityOf(cr, f), "NodeLoss"); l.AcknowledgedCommits != tc.want {
				t.Errorf("%s (%s), want %s", l.AcknowledgedCommits, l.Detail, tc.want)
			}
		})
	}
	for _, l := range durabilityOf(quorumOf(3), facts()).Losses {
		if l.AcknowledgedCommits == commitsKept {
			t.Errorf("without a database: %+v", l)
		}
	}
}

// Where a volume can outlive its node, the statement says how.
func TestASharedNodeSaysWhatTheStorageKeeps(t *testing.T) {
	cr := quorumOf(2)
	f := proved(t, cr)
	f.Cluster.Status.Topology = onNodes(2, 1)
	f.Profile.Spec = v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeCephRBD, CephRBD: &v1alpha1.CephRBDProfile{}}
	l := lossOf(t, durabilityOf(cr, f), "NodeLoss")
	if l.AcknowledgedCommits != commitsMayBeLost || !strings.Contains(l.Detail, "the instance's volume goes to another node") || !strings.Contains(l.Detail, "podAntiAffinityType") {
		t.Errorf("%+v", l)
	}
}

// Settings that durability depends on are compared, whatever their source. The status
// makes no promise beside a setting that breaks it, or that was not read.
func TestDurabilityRestsOnWhatRuns(t *testing.T) {
	for _, tc := range []struct {
		name   string
		cr     *v1alpha1.PgStorageCluster
		change func(*observed.Cluster)
		reason string
		text   string
		crash  string
		counts bool // takes part in Ready
	}{
		{"all as it must be", quorumOf(3), nil, v1alpha1.ReasonVerified, "every instance reports", commitsKept, false},
		{"fsync off by ALTER SYSTEM on a standby", quorumOf(3), func(f *observed.Cluster) { f.ReadBack.Settings["shop-3"]["fsync"] = "off" }, v1alpha1.ReasonDurabilityWeakened, "shop-3: fsync is off", commitsMayBeLost, true},
		{"fsync off by CloudNativePG's own query", shop(nil), func(f *observed.Cluster) {
			f.ReadBack.Settings = nil
			f.ReadBack.Instances["shop-1"]["fsync"] = 0
		}, v1alpha1.ReasonDurabilityWeakened, "shop-1: fsync is off", commitsMayBeLost, true},
		{"full_page_writes off that nobody asked for", shop(nil), func(f *observed.Cluster) { f.ReadBack.Settings["shop-1"]["full_page_writes"] = "off" }, v1alpha1.ReasonDurabilityWeakened, "full_page_writes is off", commitsMayBeLost, true},
		{"synchronous_commit below the tier", shop(nil), func(f *observed.Cluster) { f.ReadBack.Settings["shop-1"]["synchronous_commit"] = "local" }, v1alpha1.ReasonDurabilityWeakened, "synchronous_commit is local", commitsMayBeLost, true},
		{"wal_level minimal", shop(nil), func(f *observed.Cluster) { f.ReadBack.Settings["shop-1"]["wal_level"] = "minimal" }, v1alpha1.ReasonDurabilityWeakened, "wal_level is minimal", commitsMayBeLost, true},
		{"a method of flushing that is not known", shop(nil), func(f *observed.Cluster) { f.ReadBack.Settings["shop-1"]["wal_sync_method"] = "none" }, v1alpha1.ReasonDurabilityWeakened, "wal_sync_method is none", commitsMayBeLost, true},
		{"no checksums hide damage and lose no commit", shop(nil), func(f *observed.Cluster) { f.ReadBack.Settings["shop-1"]["data_checksums"] = "off" }, v1alpha1.ReasonDurabilityWeakened, "data_checksums is off", commitsKept, true},
		{"no synchronous standby", quorumOf(3), func(f *observed.Cluster) { f.ReadBack.Settings["shop-1"]["synchronous_standby_names"] = "" }, v1alpha1.ReasonDurabilityWeakened, `synchronous_standby_names is ""`, commitsMayBeLost, true},
		{"a stranger may confirm", quorumOf(3), func(f *observed.Cluster) {
			f.ReadBack.Settings["shop-1"]["synchronous_standby_names"] = `ANY 1 ("shop-2",pg_receivewal)`
		}, v1alpha1.ReasonDurabilityWeakened, "pg_receivewal is not an instance", commitsMayBeLost, true},
		{"the child names strangers", quorumOf(3), func(f *observed.Cluster) {
			f.Cluster.Spec.PostgresConfiguration.Synchronous.StandbyNamesPre = []string{"other"}
		}, v1alpha1.ReasonDurabilityWeakened, "names standbys that are not its instances", commitsMayBeLost, true},
		{"the child lets writes go on alone", quorumOf(3), func(f *observed.Cluster) {
			f.Cluster.Spec.PostgresConfiguration.Synchronous.DataDurability = cnpgv1.DataDurabilityLevelPreferred
		}, v1alpha1.ReasonDurabilityWeakened, "does not require a standby", commitsMayBeLost, true},
		{"the child acknowledges before the flush", quorumOf(3), commitsWith("False"), v1alpha1.ReasonDurabilityWeakened, "spec.postgresql.parameters of the Cluster: synchronous_commit is off", commitsMayBeLost, true},
		{"the child does, and the operator only reports", shop(suspended), commitsWith("off"), v1alpha1.ReasonDurabilityWeakened, "spec.postgresql.parameters of the Cluster: synchronous_commit is off", commitsMayBeLost, true},
		{"the child waits for less than the quorum", quorumOf(3), commitsWith("remote_write"), v1alpha1.ReasonDurabilityWeakened, "synchronous_commit is remote_write", commitsMayBeLost, true},
		{"the child waits for more", shop(nil), commitsWith("remote_apply"), v1alpha1.ReasonVerified, "every instance reports", commitsKept, false},
		{"the child has it in another spelling", shop(nil), commitsWith("YES"), v1alpha1.ReasonVerified, "every instance reports", commitsKept, false},
		{"a role has less", shop(nil), func(f *observed.Cluster) {
			f.ReadBack.Overrides = []observed.Override{{Role: "app", Name: "synchronous_commit", Value: "off"}, {Role: "dba", Name: "synchronous_commit", Value: "on"}}
		}, v1alpha1.ReasonDurabilityOverridden, `sessions of role "app": synchronous_commit is off`, commitsMayBeLost, false},
		{"a role has the same in another spelling", shop(nil), func(f *observed.Cluster) {
			f.ReadBack.Overrides = []observed.Override{{Role: "app", Name: "synchronous_commit", Value: "true"}, {Database: "app", Name: "synchronous_commit", Value: "Remote_Apply"}}
		}, v1alpha1.ReasonVerified, "no role or database has weaker ones", commitsKept, false},
		{"a role has less in another spelling", shop(nil), func(f *observed.Cluster) {
			f.ReadBack.Overrides = []observed.Override{{Role: "app", Name: "synchronous_commit", Value: "NO"}}
		}, v1alpha1.ReasonDurabilityOverridden, "synchronous_commit is off", commitsMayBeLost, false},
		{"a role has a spelling that is not known", shop(nil), func(f *observed.Cluster) {
			f.ReadBack.Overrides = []observed.Override{{Role: "app", Name: "synchronous_commit", Value: "soon"}}
		}, v1alpha1.ReasonDurabilityOverridden, "synchronous_commit is soon", commitsMayBeLost, false},
		{"metrics out of reach", shop(nil), func(f *observed.Cluster) {
			f.ReadBack = observed.ReadBack{Errors: map[string]string{"shop-1": "no answer"}}
		}, v1alpha1.ReasonNotReadBack, "shop-1: no answer", commitsUnknown, false},
		{"our queries do not run", shop(nil), func(f *observed.Cluster) { f.ReadBack.Settings = nil }, v1alpha1.ReasonNotReadBack, "not every instance reports", commitsUnknown, false},
		{"overrides were not read", shop(nil), func(f *observed.Cluster) { f.ReadBack.OverridesRead = false }, v1alpha1.ReasonNotReadBack, "not every instance reports", commitsUnknown, false},
		{"an instance is away", quorumOf(3), func(f *observed.Cluster) { f.Cluster.Status.ReadyInstances = 2 }, v1alpha1.ReasonNotReadBack, "not every instance is ready", commitsUnknown, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := proved(t, tc.cr)
			if tc.change != nil {
				tc.change(&f)
			}
			o := groundsOf(tc.cr, f).outcome(tc.cr)
			if o.Reason != tc.reason || !strings.Contains(o.Message, tc.text) {
				t.Errorf("%s: %s", o.Reason, o.Message)
			}
			if counts := o.Kind == outcome.Invalid && !o.Informative; counts != tc.counts {
				t.Errorf("counts %v, want %v", counts, tc.counts)
			}
			if l := lossOf(t, durabilityOf(tc.cr, f), "ProcessCrash"); l.AcknowledgedCommits != tc.crash {
				t.Errorf("ProcessCrash: %+v, want %s", l, tc.crash)
			}
		})
	}
}

// commitsWith is a change of the Cluster by another writer.
func commitsWith(value string) func(*observed.Cluster) {
	return func(f *observed.Cluster) {
		f.Cluster.Spec.PostgresConfiguration.Parameters = map[string]string{"synchronous_commit": value}
	}
}

func suspended(s *v1alpha1.PgStorageClusterSpec) {
	yes := true
	s.Suspend = &yes
}

// A change of the tier counts once it is applied: until then, the Cluster acknowledges
// commits by the former one.
func TestATierBehindAGateIsNotVerified(t *testing.T) {
	cr := shop(func(s *v1alpha1.PgStorageClusterSpec) { s.Postgres.Parameters = map[string]string{"fsync": "off"} })
	f := proved(t, cr)
	commitsWith("off")(&f)
	built, err := Build(cr, f, catalog.All(), config)
	if err != nil {
		t.Fatal(err)
	}
	if _, held := built.Plan.GateOf(plan.StageDatabase); !held {
		t.Fatal("nothing holds the change back")
	}
	if reason := built.AllOutcomes(cr, f).Reason(v1alpha1.ConditionDurabilityVerified); reason != v1alpha1.ReasonDurabilityWeakened {
		t.Errorf("DurabilityVerified has the reason %s", reason)
	}
	if l := lossOf(t, built.Status(cr, f).Durability, "ProcessCrash"); l.AcknowledgedCommits != commitsMayBeLost {
		t.Errorf("%+v", l)
	}
	// No session of a follower commits.
	follower := shop(func(s *v1alpha1.PgStorageClusterSpec) { s.Follow = &v1alpha1.FollowSpec{Cluster: "shop"} })
	if o := groundsOf(follower, f).outcome(follower); o.Reason != v1alpha1.ReasonVerified {
		t.Errorf("%+v", o)
	}
}

// Users of a database choose the names of its roles and databases. The API server rejects a
// status with a longer detail.
func TestDetailOfALossFitsTheStatus(t *testing.T) {
	cr := quorumOf(3)
	f := proved(t, cr)
	for i := range 9 {
		name := strings.Repeat("\"", 62) + strconv.Itoa(i)
		f.ReadBack.Overrides = append(f.ReadBack.Overrides, observed.Override{Role: name, Database: name, Name: "synchronous_commit", Value: "off"})
	}
	for _, l := range durabilityOf(cr, f).Losses {
		if len(l.Detail) > 1024 {
			t.Errorf("%s: the detail has %d bytes", l.Event, len(l.Detail))
		}
	}
	if l := lossOf(t, durabilityOf(cr, f), "NodeLoss"); !strings.HasSuffix(l.Detail, "...") {
		t.Errorf("nothing was cut: %+v", l)
	}
}

// Async promises no commit, and fsync still matters.
func TestAsyncRestsOnFsyncToo(t *testing.T) {
	cr := shop(func(s *v1alpha1.PgStorageClusterSpec) { s.Durability = v1alpha1.DurabilityAsync })
	f := proved(t, cr)
	f.ReadBack.Settings["shop-1"]["synchronous_commit"] = "off"
	if o := groundsOf(cr, f).outcome(cr); o.Reason != v1alpha1.ReasonVerified {
		t.Errorf("%+v", o)
	}
	f.ReadBack.Settings["shop-1"]["fsync"] = "off"
	if o := groundsOf(cr, f).outcome(cr); o.Reason != v1alpha1.ReasonDurabilityWeakened {
		t.Errorf("%+v", o)
	}
}

// What is refused in a spec is refused in a Cluster that is to be taken over.
func TestUnsafeClustersAreNotAdopted(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*observed.Cluster)
		text   string
	}{
		{"a plain one", func(*observed.Cluster) {}, ""},
		{"fsync", func(f *observed.Cluster) {
			f.Adoptee.Spec.PostgresConfiguration.Parameters = map[string]string{"fsync": "No"}
		}, "spec.postgresql.parameters[fsync]: off is unsafe"},
		{"full_page_writes", func(f *observed.Cluster) {
			f.Adoptee.Spec.PostgresConfiguration.Parameters = map[string]string{"full_page_writes": "off"}
		}, "spec.postgresql.parameters[full_page_writes]: off is unsafe"},
		{"synchronous_commit", func(f *observed.Cluster) {
			f.Adoptee.Spec.PostgresConfiguration.Parameters = map[string]string{"synchronous_commit": "off"}
		}, "spec.postgresql.parameters[synchronous_commit]: off is below durability Local"},
		{"a replica cluster", func(f *observed.Cluster) { f.Adoptee.Spec.ReplicaCluster = &cnpgv1.ReplicaClusterConfiguration{} }, "spec.replica: "},
		{"by ALTER SYSTEM", func(f *observed.Cluster) {
			f.AdopteeReadBack.Instances = map[string]map[string]float64{"shop-1": {"fsync": 0}}
		}, "shop-1: fsync is off"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := facts()
			f.Namesake = &observed.Namesake{UID: "x", AdoptBy: "shop"}
			f.Adoptee = &cnpgv1.Cluster{}
			tc.change(&f)
			built, err := Build(shop(nil), f, catalog.All(), config)
			if err != nil {
				t.Fatal(err)
			}
			o := built.databaseOutcome(shop(nil), f)
			_, held := built.Plan.GateOf(plan.StageDatabase)
			if refused := o.Reason == v1alpha1.ReasonAdoptionRefused && o.Kind == outcome.Invalid; refused != (tc.text != "") || held != refused || !strings.Contains(o.Message, tc.text) {
				t.Errorf("held %v, %s: %s", held, o.Reason, o.Message)
			}
		})
	}
}
