package clusters

import (
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

// A profile whose nodes are out of reach holds nothing back; one that lacks more does.
func TestStorageOfAProfileWithANodeOutOfReach(t *testing.T) {
	condition := func(kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: "1 of 2 nodes are not ready: n2: its Node is not Ready", ObservedGeneration: 2}
	}
	ready := func(reason string) metav1.Condition {
		return condition(v1alpha1.ConditionReady, metav1.ConditionFalse, reason)
	}
	applied := condition(v1alpha1.ConditionStorageReady, metav1.ConditionTrue, v1alpha1.ReasonStorageClassApplied)
	for _, tc := range []struct {
		name       string
		conditions []metav1.Condition
		generation int64
		kind       outcome.Kind
		reason     string
	}{
		{"a node is not Ready", []metav1.Condition{ready(v1alpha1.ReasonNodeNotReady), applied}, 2, outcome.Done, v1alpha1.ReasonNodeNotReady},
		{"a Node is gone", []metav1.Condition{ready(v1alpha1.ReasonNodeNotFound), applied}, 2, outcome.Done, v1alpha1.ReasonNodeNotFound},
		{"no class either", []metav1.Condition{ready(v1alpha1.ReasonNodeNotReady)}, 2, outcome.Wait, v1alpha1.ReasonProfileNotReady},
		{"of an old spec", []metav1.Condition{ready(v1alpha1.ReasonNodeNotReady), applied}, 3, outcome.Wait, v1alpha1.ReasonProfileNotReady},
		{"another reason", []metav1.Condition{ready(v1alpha1.ReasonPoolSuspended), applied}, 2, outcome.Wait, v1alpha1.ReasonProfileNotReady},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := &v1alpha1.PgStorageProfile{ObjectMeta: metav1.ObjectMeta{Name: "zfs", Generation: tc.generation}}
			p.Status.Conditions = tc.conditions
			cr := &v1alpha1.PgStorageCluster{Spec: v1alpha1.PgStorageClusterSpec{Profile: "zfs"}}
			got := storageOutcome(catalog.All(), cr, observed.Cluster{Profile: p})
			if got.Kind != tc.kind || got.Reason != tc.reason {
				t.Errorf("%+v", got)
			}
			const want = "1 of 2 nodes are not ready: n2: its Node is not Ready"
			if tc.kind == outcome.Done && !strings.HasSuffix(got.Message, want) {
				t.Errorf("message %q, want one that ends %q", got.Message, want)
			}
		})
	}
}

// A database that runs keeps its storage where its kind of storage says so; one that does
// not run yet waits.
func TestARunningDatabaseKeepsItsStorageWhileCephWaits(t *testing.T) {
	running := &cnpgv1.Cluster{Status: cnpgv1.ClusterStatus{ReadyInstances: 3}}
	degraded := func(checks ...string) *v1alpha1.ProfileCeph {
		out := &v1alpha1.ProfileCeph{OSDs: new(int32(3)), OSDsUp: new(int32(2)), OSDHosts: []string{"n1", "n2"}}
		for _, name := range checks {
			out.Checks = append(out.Checks, v1alpha1.ObservedCephCheck{Name: name})
		}
		return out
	}
	oneHost := degraded()
	oneHost.OSDHosts = oneHost.OSDHosts[:1]
	for _, tc := range []struct {
		name, profile string
		reason        string
		ceph          *v1alpha1.ProfileCeph
		cluster       *cnpgv1.Cluster
		generation    int64
		want          string
	}{
		{"a warning", "CephRBD", v1alpha1.ReasonCephWarning, degraded("OSD_DOWN", "PG_DEGRADED"), running, 2, v1alpha1.ReasonCephWarning},
		{"an OSD is away", "CephRBD", v1alpha1.ReasonOSDsMissing, degraded(), running, 2, v1alpha1.ReasonOSDsMissing},
		{"Rook works", "CephRBD", v1alpha1.ReasonCephProgressing, degraded(), running, 2, v1alpha1.ReasonCephProgressing},
		{"a probe runs", "CephRBD", v1alpha1.ReasonProbePending, degraded(), running, 2, v1alpha1.ReasonProbePending},
		{"data is not available", "CephRBD", v1alpha1.ReasonCephWarning, degraded("PG_AVAILABILITY"), running, 2, v1alpha1.ReasonProfileNotReady},
		{"too few hosts for a write", "CephRBD", v1alpha1.ReasonOSDsMissing, oneHost, running, 2, v1alpha1.ReasonProfileNotReady},
		{"a person is needed", "CephRBD", v1alpha1.ReasonCephUnhealthy, degraded("OSD_FULL"), running, 2, v1alpha1.ReasonProfileNotReady},
		{"of an old spec", "CephRBD", v1alpha1.ReasonCephWarning, degraded(), running, 3, v1alpha1.ReasonProfileNotReady},
		{"a new database", "CephRBD", v1alpha1.ReasonCephWarning, degraded(), nil, 2, v1alpha1.ReasonProfileNotReady},
		{"a database that does not run", "CephRBD", v1alpha1.ReasonCephWarning, degraded(), &cnpgv1.Cluster{}, 2, v1alpha1.ReasonProfileNotReady},
		{"another kind of storage", "ZFSLocalPV", v1alpha1.ReasonCephWarning, degraded(), running, 2, v1alpha1.ReasonProfileNotReady},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := &v1alpha1.PgStorageProfile{
				ObjectMeta: metav1.ObjectMeta{Name: "ceph", Generation: tc.generation},
				Spec:       v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileType(tc.profile), CephRBD: &v1alpha1.CephRBDProfile{FailureDomain: "host", Cluster: &v1alpha1.CephCluster{}}},
				Status: v1alpha1.PgStorageProfileStatus{Ceph: tc.ceph, Conditions: []metav1.Condition{{
					Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: tc.reason, Message: "the words", ObservedGeneration: 2,
				}}},
			}
			cr := &v1alpha1.PgStorageCluster{Spec: v1alpha1.PgStorageClusterSpec{Profile: "ceph"}}
			got := storageOutcome(catalog.All(), cr, observed.Cluster{Profile: p, Cluster: tc.cluster})
			if got.Reason != tc.want || (got.Kind == outcome.Done) != (tc.want == tc.reason) || !strings.HasSuffix(got.Message, "the words") {
				t.Errorf("%+v, want reason %s", got, tc.want)
			}
		})
	}
}

// A database that exists is changed whatever its profile lacks. Otherwise what a lost
// proof withdraws would wait for a repair. Without the profile its classes are unknown.
func TestOnlyNewDatabasesWaitForTheirProfile(t *testing.T) {
	p := facts().Profile
	p.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonPoolSuspended}}
	for _, tc := range []struct {
		name    string
		profile *v1alpha1.PgStorageProfile
		cluster *cnpgv1.Cluster
		held    bool
	}{
		{"new", p, nil, true},
		{"there", p, &cnpgv1.Cluster{}, false},
		{"there, without its profile", nil, &cnpgv1.Cluster{}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := facts()
			f.Profile, f.Cluster = tc.profile, tc.cluster
			built, err := Build(shop(nil), f, catalog.All(), config)
			if err != nil {
				t.Fatal(err)
			}
			if _, held := built.Plan.GateOf(plan.StageStorage); held != tc.held {
				t.Errorf("held: %v, gates %+v", held, built.Plan.Gates)
			}
		})
	}
}

func TestEachNodeOutOfReachIsToldOnce(t *testing.T) {
	claims := []observed.Claim{
		{Name: "shop-1", Node: "n1", Unreachable: "Node n1 is not Ready"}, {Name: "shop-1-wal", Node: "n1", Unreachable: "Node n1 is not Ready"},
		{Name: "shop-2", Node: "n2"}, {Name: "shop-3", Node: "n3", Unreachable: "Node n3 does not exist"},
	}
	if got, want := outOfReach(claims), ". Node n1 is not Ready. Node n3 does not exist"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
