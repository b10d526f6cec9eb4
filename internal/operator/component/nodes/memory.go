package nodes

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
)

// ReservePercent of a node's memory is left to connections, maintenance and all
// else that runs there.
const ReservePercent = 10

// Reserve is that share of the memory of a node, in bytes.
func Reserve(memory int64) int64 { return memory / 100 * ReservePercent }

// PageSize of Postgres, in bytes. shared_buffers are counted in it too.
const PageSize = 8192

// Quantity in whole Mi, as kubectl describe node shows memory.
func Quantity(n int64) string {
	return resource.NewQuantity(n>>20<<20, resource.BinarySI).String()
}

// Buffers are the instances of the profile's databases on a node, and the bytes of their
// shared_buffers.
func Buffers(node string, facts observed.Profile) (instances int, bytes int64) {
	for i := range facts.Clusters {
		n := instancesOn(node, &facts.Clusters[i], facts.Instances)
		instances += n
		bytes += int64(n) * SharedBuffers(&facts.Clusters[i])
	}
	return instances, bytes
}

// instancesOn a node of a database: by the volumes that an agent found there, and by
// where those are whose volumes no agent sees.
func instancesOn(node string, cr *v1alpha1.PgStorageCluster, placed []observed.Placement) int {
	n := 0
	for _, v := range cr.Status.Volumes {
		if v.Node == node && v.Role == "Data" {
			n++
		}
	}
	for _, i := range placed {
		if i.Node == node && i.Cluster == cr.Namespace+"/"+cr.Name {
			n++
		}
	}
	return n
}

// SharedBuffers of each instance of a database, in bytes; 0 while its status has none.
func SharedBuffers(cr *v1alpha1.PgStorageCluster) int64 {
	major, _, _ := strings.Cut(cr.Spec.Postgres.Version, ".")
	version, err := strconv.Atoi(major)
	if err != nil {
		return 0
	}
	for _, p := range cr.Status.Parameters {
		if p.Name == "shared_buffers" {
			blocks, _ := postgres.BaseValue(version, p.Name, p.Value)
			return int64(blocks) * PageSize
		}
	}
	return 0
}
