package clusters

import (
	"fmt"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// The operator writes the spec of a read pool, so the field to raise is that of its cluster.
func TestFullDiskOfAReadPoolNamesItsEntry(t *testing.T) {
	cr, f := withPools(reports())
	f.Cluster = &cnpgv1.Cluster{Status: cnpgv1.ClusterStatus{Phase: phaseDiskFull}}
	o := (&Cluster{}).health(poolOf(cr, reports()), f)
	if o.Reason != v1alpha1.ReasonDiskFull || !strings.Contains(o.Message, "Raise storage.size in the entry of spec.readPools of PgStorageCluster shop;") {
		t.Errorf("%s: %s", o.Reason, o.Message)
	}
}

// CloudNativePG advises a restore from a backup where every volume is lost. A follower is cloned.
func TestFollowerThatLostEveryVolume(t *testing.T) {
	for name, tc := range map[string]struct {
		phase    string
		topology *v1alpha1.TopologySpec
		says     bool
	}{
		"a database of its own":       {cnpgv1.PhaseUnrecoverable, nil, false},
		"a site that follows":         {cnpgv1.PhaseUnrecoverable, &v1alpha1.TopologySpec{Self: "south", Primary: "north"}, true},
		"a site that waits for users": {cnpgv1.PhaseWaitingForUser, &v1alpha1.TopologySpec{Self: "south", Primary: "north"}, false},
	} {
		cr, f := shop(nil), facts()
		cr.Spec.Topology = tc.topology
		f.Cluster = &cnpgv1.Cluster{Status: cnpgv1.ClusterStatus{Phase: tc.phase}}
		if tc.topology != nil {
			f.Cluster.Spec.ReplicaCluster = &cnpgv1.ReplicaClusterConfiguration{Self: "south", Primary: "north"}
		}
		o := (&Cluster{}).health(cr, f)
		if o.Reason != v1alpha1.ReasonClusterStuck || strings.Contains(o.Message, "clone this one again") != tc.says {
			t.Errorf("%s: %s: %s", name, o.Reason, o.Message)
		}
	}
}

// Claims without a volume are named, unless the database is healthy or has another cause.
func TestVolumesPending(t *testing.T) {
	const none, creating = "0 of 1 instances are ready; ", "CloudNativePG: Setting up primary: Creating primary instance shop-1"
	many := make([]string, 7)
	for i := range many {
		many[i] = fmt.Sprintf("shop-%d", i+1)
	}
	for name, tc := range map[string]struct {
		claims          []string
		change          func(*cnpgv1.Cluster)
		reason, message string
	}{
		"none":         {nil, nil, v1alpha1.ReasonClusterNotHealthy, none + creating},
		"data and WAL": {many[:2], nil, v1alpha1.ReasonVolumesPending, none + "claims without a volume: shop-1, shop-2 (see kubectl -n prod describe pvc); " + creating},
		"many":         {many, nil, v1alpha1.ReasonVolumesPending, none + "claims without a volume: shop-1, shop-2, shop-3, shop-4, shop-5 and 2 more (see kubectl -n prod describe pvc); " + creating},
		"hibernated": {many, func(c *cnpgv1.Cluster) {
			c.Annotations[naming.AnnotationHibernation] = "on"
		}, v1alpha1.ReasonHibernated, ""},
		"disk full": {nil, func(c *cnpgv1.Cluster) {
			c.Status.Phase, c.Status.PhaseReason = "Not enough disk space", "Insufficient disk space"
		}, v1alpha1.ReasonDiskFull, none + "Postgres has no room on a volume. Raise spec.storage.size, or spec.storage.walSize where WAL has a volume of its own; Postgres starts within 5 minutes of that; CloudNativePG: Not enough disk space: Insufficient disk space"},
		"stuck":   {many, func(c *cnpgv1.Cluster) { c.Status.Phase = cnpgv1.PhaseUnrecoverable }, v1alpha1.ReasonClusterStuck, ""},
		"healthy": {many, func(c *cnpgv1.Cluster) { c.Status = proved(t, shop(nil)).Cluster.Status }, v1alpha1.ReasonHealthy, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cr, f := shop(nil), facts()
			built, err := Build(cr, f, catalog.All(), config)
			if err != nil {
				t.Fatal(err)
			}
			f.PendingClaims = tc.claims
			f.Cluster = &cnpgv1.Cluster{Status: cnpgv1.ClusterStatus{Phase: cnpgv1.PhaseFirstPrimary, PhaseReason: "Creating primary instance shop-1"}}
			f.Cluster.Annotations = map[string]string{naming.AnnotationIntent: built.intent(cr.Name)}
			if tc.change != nil {
				tc.change(f.Cluster)
			}
			o := built.databaseOutcome(cr, f)
			if o.Reason != tc.reason || tc.message != "" && o.Message != tc.message {
				t.Errorf("%s: %s", o.Reason, o.Message)
			}
		})
	}
}
