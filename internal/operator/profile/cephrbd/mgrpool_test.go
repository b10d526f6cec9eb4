package cephrbd

import (
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Ceph's own pool never has more copies than can be apart, and never one where two are
// wanted. Its placement groups would block every other pool.
func TestCephsOwnPoolFitsTheHosts(t *testing.T) {
	size := func(n int32, domain string, osds int32) func(*v1alpha1.CephRBDProfile) {
		return func(c *v1alpha1.CephRBDProfile) {
			c.Pool.Size, c.FailureDomain, c.Cluster.OSDs.Count = new(n), domain, new(osds)
			if n == 1 {
				c.Pool.AcceptLoss = new(true)
			}
		}
	}
	for _, tc := range []struct {
		name    string
		profile *v1alpha1.PgStorageProfile
		// nodes that the profile selects, and the hosts of the OSDs that exist.
		nodes, hosts string
		copies       int32
		domain, min  string
	}{
		{"one host with one copy", onClass(size(1, "host", 1)), "n1", "n1", 1, "host", "1"},
		{"one host with two OSDs", onClass(size(2, "osd", 2)), "n1", "n1 n1", 2, "osd", "2"},
		{"one host where two are wanted", onClass(size(2, "host", 2)), "n1", "n1 n1", 2, "osd", "2"},
		{"one host where three are wanted", onClass(size(3, "host", 3)), "n1", "n1 n1 n1", 3, "osd", "2"},
		{"one host of three nodes", onClass(size(3, "host", 3)), "n1 n2 n3", "n1 n1 n1", 3, "osd", "2"},
		{"two hosts with two copies", onClass(size(2, "host", 2)), "n1 n2", "n1 n2", 2, "host", "2"},
		{"two hosts where three are wanted", onClass(size(3, "host", 3)), "n1 n2 n3", "n1 n1 n2", 2, "host", "2"},
		{"three hosts", onClass(size(3, "host", 3)), "n1 n2 n3", "n1 n2 n3", 3, "host", "2"},
		{"three hosts with two copies", onClass(size(2, "host", 3)), "n1 n2 n3", "n1 n2 n3", 2, "host", "2"},
		{"no OSD yet, one node", onClass(size(3, "host", 3)), "n1", "", 3, "osd", "2"},
		{"no OSD yet, two nodes", onClass(size(3, "host", 3)), "n1 n2", "", 2, "host", "2"},
		{"the first of three OSDs", onClass(size(3, "host", 3)), "n1 n2 n3", "n1", 3, "host", "2"},
		{"nothing is read yet", onClass(size(3, "host", 3)), "", "", 3, "host", "2"},
		{"devices of three nodes", onDevices(nil), "", "", 3, "host", "2"},
		{"pinned to two hosts", onClass(pinned), "n1 n2", "n1 n2", 2, "host", "2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			facts := observed.Profile{Own: &Facts{}}
			for n := range strings.FieldsSeq(tc.nodes) {
				facts.Nodes = append(facts.Nodes, observed.Node{Name: n, Selected: true})
			}
			for i, host := range strings.Fields(tc.hosts) {
				own(facts).OSDs = append(own(facts).OSDs, OSD{ID: i, Host: host, Domain: host, Up: true})
			}
			pool := managerPool(tc.profile, facts).Spec
			if *pool.Replicated.Size != tc.copies || pool.FailureDomain != tc.domain || pool.Parameters["min_size"] != tc.min || !*pool.EnableCrushUpdates {
				t.Errorf("%d copies apart by %s, min_size %s", *pool.Replicated.Size, pool.FailureDomain, pool.Parameters["min_size"])
			}
		})
	}
}

// A lost host is not a reason to keep fewer copies, once the pools were proved. Before that, the
// hosts may never come.
func TestALostHostTakesNoCopyAway(t *testing.T) {
	p := onClass(nil)
	facts := healthy(p, "n1", "n2", "n3")
	own(facts).Pools[naming.ManagerPool] = ObservedPool{Spec: managerPool(p, facts).Spec}
	own(facts).OSDs[2].Host, own(facts).OSDs[2].Domain = "n1", "n1"
	for _, tc := range []struct {
		probed string
		want   int32
	}{{"", 2}, {"key", 3}} {
		p.Status.Ceph = &v1alpha1.ProfileCeph{ProbedKey: tc.probed}
		if got := *managerPool(p, facts).Spec.Replicated.Size; got != tc.want {
			t.Errorf("probed %q: %d copies, want %d", tc.probed, got, tc.want)
		}
	}
}

// Ceph's own pool is written while Ceph is not healthy, because it can be the cause. A
// foreign one blocks it, and the CephCluster is still applied.
func TestCephsOwnPoolComesWithTheCephCluster(t *testing.T) {
	p := onZFS(nil)
	for _, tc := range []struct {
		name  string
		facts func(*observed.Profile)
		held  bool
	}{
		{"before there is a CephCluster", func(f *observed.Profile) { own(*f).Cluster = nil }, false},
		{"placement groups are not available", raises("HEALTH_WARN", "PG_AVAILABILITY", "HEALTH_WARN", ""), false},
		{"somebody else's", func(f *observed.Profile) { own(*f).Pools[naming.ManagerPool] = ObservedPool{} }, true},
		{"a CephCluster being deleted", func(f *observed.Profile) { own(*f).Cluster.Deleting = true }, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			facts := healthy(p, "n1", "n2", "n3")
			tc.facts(&facts)
			b := build(t, p, facts)
			written := map[string]bool{}
			for _, o := range b.Plan.Open() {
				written[o.Key().String()] = true
			}
			if written["CephBlockPool rook-ceph/builtin-mgr"] == tc.held || !written["CephCluster rook-ceph/rook-ceph"] {
				t.Errorf("written are %v", written)
			}
		})
	}
}

// Ceph warns of TOO_FEW_OSDS below osd_pool_default_size, which is 3.
func TestCephExpectsAsManyOSDsAsThereAreCopies(t *testing.T) {
	for copies, want := range map[int32]string{1: "1", 2: "2", 3: ""} {
		p := onClass(func(c *v1alpha1.CephRBDProfile) { c.Pool.Size, c.Pool.AcceptLoss = new(copies), new(true) })
		if got := cephConfig(p)["global"]["osd_pool_default_size"]; got != want {
			t.Errorf("%d copies: %q, want %q", copies, got, want)
		}
	}
}
