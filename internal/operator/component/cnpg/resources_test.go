package cnpg

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// The kernel charges a tmpfs to the pod, so its memory holds Postgres and the volumes.
func TestMemoryOfPodsIncludesVolumesInMemory(t *testing.T) {
	amount := func(memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}
	}
	for _, tc := range []struct {
		name            string
		resources       v1alpha1.ClusterResources
		wal             string
		inMemory        bool
		requests, limit string
	}{
		{"on disk", v1alpha1.ClusterResources{Requests: amount("512Mi"), Limits: amount("1Gi")}, "1Gi", false, "512Mi", "1Gi"},
		{"in memory", v1alpha1.ClusterResources{Requests: amount("512Mi"), Limits: amount("1Gi")}, "", true, "2560Mi", "3Gi"},
		{"in memory with WAL", v1alpha1.ClusterResources{Requests: amount("512Mi"), Limits: amount("512Mi")}, "1Gi", true, "3584Mi", "3584Mi"},
		{"without a limit", v1alpha1.ClusterResources{Requests: amount("512Mi")}, "", true, "2560Mi", "0"},
		{"without resources", v1alpha1.ClusterResources{}, "", true, "2Gi", "0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cr := &v1alpha1.PgStorageCluster{}
			cr.Spec.Storage.Size, cr.Spec.Resources = resource.MustParse("2Gi"), tc.resources
			if tc.wal != "" {
				cr.Spec.Storage.WALSize = new(resource.MustParse(tc.wal))
			}
			got := resources(cr, profile.Volumes{InMemory: tc.inMemory})
			if r, l := got.Requests.Memory().String(), got.Limits.Memory().String(); r != tc.requests || l != tc.limit {
				t.Errorf("requests %s, limits %s, want %s and %s", r, l, tc.requests, tc.limit)
			}
		})
	}
}
