package clusters

import (
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

func TestInPlace(t *testing.T) {
	two := int32(2)
	cr := shop(func(s *v1alpha1.PgStorageClusterSpec) { s.Instances = &two })
	for _, tc := range []struct {
		name    string
		change  func(*cnpgv1.ClusterStatus)
		missing string
	}{
		{"all ready", func(*cnpgv1.ClusterStatus) {}, ""},
		{"nothing reported", func(s *cnpgv1.ClusterStatus) { *s = cnpgv1.ClusterStatus{} }, "0 of 2 instances are ready"},
		{"one is not ready", func(s *cnpgv1.ClusterStatus) { s.ReadyInstances = 1 }, "1 of 2 instances are ready"},
		{"one is still to be made", func(s *cnpgv1.ClusterStatus) { s.Instances, s.ReadyInstances = 1, 1 }, "1 of 2 instances are ready"},
		{"one is to be removed", func(s *cnpgv1.ClusterStatus) { s.Instances, s.ReadyInstances = 3, 3 }, "there are 3 instances, and spec.instances is 2"},
		{"no primary", func(s *cnpgv1.ClusterStatus) { s.CurrentPrimary, s.TargetPrimary = "", "" }, "CloudNativePG names no primary"},
		{"a failover begins", func(s *cnpgv1.ClusterStatus) { s.TargetPrimary = cnpgv1.PendingFailoverMarker }, "the primary is changing from shop-1 to pending"},
		{"a switchover", func(s *cnpgv1.ClusterStatus) { s.TargetPrimary = "shop-2" }, "the primary is changing from shop-1 to shop-2"},
		{"a failover is not over", func(s *cnpgv1.ClusterStatus) { s.Phase = cnpgv1.PhaseFailOver }, "CloudNativePG: Failing over"},
		// The change to off itself makes this phase: on again would never end.
		{"a configuration is applied", func(s *cnpgv1.ClusterStatus) { s.Phase = cnpgv1.PhaseApplyingConfiguration }, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pg := &cnpgv1.Cluster{Status: cnpgv1.ClusterStatus{
				Phase: cnpgv1.PhaseHealthy, Instances: 2, ReadyInstances: 2, CurrentPrimary: "shop-1", TargetPrimary: "shop-1",
			}}
			tc.change(&pg.Status)
			if got := inPlace(cr, pg); got.Missing != tc.missing || got.Holds() != (tc.missing == "") {
				t.Errorf("%+v, want missing %q", got, tc.missing)
			}
		})
	}
	if inPlace(cr, nil).Holds() {
		t.Error("a database that does not exist is in its place")
	}
}
