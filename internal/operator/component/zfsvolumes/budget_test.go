package zfsvolumes_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

// database of one instance on each node, with these shared_buffers.
func database(buffers string, nodes ...string) v1alpha1.PgStorageCluster {
	cr := v1alpha1.PgStorageCluster{Spec: v1alpha1.PgStorageClusterSpec{Postgres: v1alpha1.PostgresSpec{Version: "17"}}}
	cr.Status.Parameters = []v1alpha1.Parameter{{Name: "shared_buffers", Value: buffers}}
	for _, n := range nodes {
		cr.Status.Volumes = append(cr.Status.Volumes, v1alpha1.VolumeStatus{Node: n, Role: "Data"}, v1alpha1.VolumeStatus{Node: n, Role: "WAL"})
	}
	return cr
}

func TestMemoryBudget(t *testing.T) {
	const within = "the ARC, shared_buffers and a reserve of 10% fit the memory of each node"
	for _, tc := range []struct {
		name            string
		arc             string
		clusters        []v1alpha1.PgStorageCluster
		reason, message string
	}{
		{"no database", "4Gi", nil, v1alpha1.ReasonWithinBudget, within},
		// 4Gi + 2 x 5Gi + 1.6Gi = 15.6Gi of 16Gi
		{"two fit", "4Gi", []v1alpha1.PgStorageCluster{database("5GB", "n1", "n2"), database("5GB", "n1")}, v1alpha1.ReasonWithinBudget, within},
		// 8Gi + 7Gi + 1638Mi = 16998Mi of 16384Mi
		{
			"half of the memory for ARC", "8Gi", []v1alpha1.PgStorageCluster{database("7GB", "n2")}, v1alpha1.ReasonOverBudget,
			"more memory is promised than there is, and the kernel will kill a database for it: n2: ARC 8Gi + shared_buffers of 1 instances 7Gi + reserve 1638Mi = 16998Mi of 16Gi. Set or lower spec.zfsLocalPV.arcMax, or move instances",
		},
		{"ARC not read", "", []v1alpha1.PgStorageCluster{database("64GB", "n1")}, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			facts := healthy()
			facts.Clusters = tc.clusters
			for i := range facts.Nodes {
				facts.Nodes[i].Memory = 16 << 30
				if tc.arc != "" {
					facts.Storages[i].Status.ARC = &v1alpha1.ObservedARC{Max: new(resource.MustParse(tc.arc))}
				}
			}
			o := outcome.Outcome{}
			if found := storage().Budget(facts); found != nil {
				o = *found
			}
			if o.Reason != "" && !o.Informative {
				t.Error("the budget takes part in Ready")
			}
			if o.Reason != tc.reason || o.Message != tc.message {
				t.Errorf("%s: %q\nwant %s: %q", o.Reason, o.Message, tc.reason, tc.message)
			}
		})
	}
}
