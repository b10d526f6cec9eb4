package pgbench

import (
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// OpenShift rejects a pod that names its user or group.
func TestPlatformChoosesTheUser(t *testing.T) {
	for _, platformUsers := range []bool{false, true} {
		pod := Job(JobInputs{Benchmark: &v1alpha1.PgBenchmark{}, PlatformUsers: platformUsers}).Spec.Template.Spec
		c := pod.SecurityContext
		if got := c.RunAsUser == nil && c.RunAsGroup == nil && c.FSGroup == nil; got != platformUsers {
			t.Errorf("PlatformUsers %v: user %v, group %v, fsGroup %v", platformUsers, c.RunAsUser, c.RunAsGroup, c.FSGroup)
		}
		if c.RunAsNonRoot == nil || !*c.RunAsNonRoot || c.SeccompProfile == nil {
			t.Errorf("PlatformUsers %v: not confined: %+v", platformUsers, c)
		}
	}
}
