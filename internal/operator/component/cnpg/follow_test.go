package cnpg

import (
	"regexp"
	"testing"

	cnpgac "github.com/pgstorage/pgstorage/internal/operator/extapply/cnpg/api/v1"
)

// synchronous_standby_names holds the names of instances, shop-2 among them. A read pool that
// streams under such a name would confirm commits.
func TestReadPoolHasNoNameOfAnInstance(t *testing.T) {
	spec := cnpgac.ClusterSpec()
	follow(spec, SourceOf("shop", nil), "shop-2")
	if name := spec.ExternalClusters[0].ConnectionParameters["application_name"]; name == "" || regexp.MustCompile(`^shop-\d+$`).MatchString(name) {
		t.Errorf("the pool receives WAL as %q", name)
	}
}
