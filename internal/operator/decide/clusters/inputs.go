package clusters

import (
	"strconv"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/durability"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

func inputs(cr *v1alpha1.PgStorageCluster, v profile.Volumes) postgres.Inputs {
	in := postgres.Inputs{
		Major:       major(cr.Spec.Postgres.Version),
		Workload:    postgres.Workload(cr.Spec.Workload),
		Medium:      v.Medium,
		Tier:        durability.Tier(cr.Spec.Durability),
		Instances:   int(Instances(cr)),
		MemoryBytes: bytes(cr.Spec.Resources.Requests, corev1.ResourceMemory),
		CPUs:        cores(cr.Spec.Resources),
		User:        cr.Spec.Postgres.Parameters,
		Profile:     v.Parameters,
		DataBytes:   cr.Spec.Storage.Size.Value(),

		Pools:           len(cr.Spec.ReadPools),
		GivenOnly:       AsIs(cr),
		HugePages:       hugePages(cr.Spec.Resources),
		WALSegmentBytes: cnpg.WALSegmentBytes(cr.Spec.CNPG),
	}
	if cr.Spec.Backup != nil {
		in.ArchiveSeconds = int64(maxArchiveAge(cr).Seconds())
	}
	if cr.Spec.Topology != nil {
		in.Sites = len(cr.Spec.Topology.Members) - 1
	}
	if w := cr.Spec.Storage.WALSize; w != nil {
		in.WALBytes = w.Value()
	}
	return in
}

// Computed are the parameters that the operator derives for a spec, beside those that its
// user sets.
func Computed(cr *v1alpha1.PgStorageCluster, v profile.Volumes) []postgres.Parameter {
	in := inputs(cr, v)
	in.GivenOnly, in.User = false, nil
	out, _ := postgres.Compute(in) // nothing that is computed is refused
	return out
}

// existing is the CloudNativePG Cluster that the plan is applied to: ours, or the one to
// adopt. It is nil if there is none.
func existing(facts observed.Cluster) *cnpgv1.Cluster {
	if facts.Cluster != nil {
		return facts.Cluster
	}
	return facts.Adoptee
}

// held are the parameters of the existing Cluster.
func held(facts observed.Cluster) map[string]string {
	if c := existing(facts); c != nil {
		return c.Spec.PostgresConfiguration.Parameters
	}
	return nil
}

// hugePages that an instance requests. Kubernetes takes a limit for a request, and
// admission refuses a request without its limit.
func hugePages(r v1alpha1.ClusterResources) []postgres.HugePages {
	var out []postgres.HugePages
	for _, size := range []string{"2Mi", "1Gi"} {
		q := resource.MustParse(size)
		if n := bytes(r.Limits, corev1.ResourceName(corev1.ResourceHugePagesPrefix+size)); n > 0 {
			out = append(out, postgres.HugePages{Size: q.Value(), Bytes: n})
		}
	}
	return out
}

func bytes(amounts map[corev1.ResourceName]resource.Quantity, name corev1.ResourceName) int64 {
	q := amounts[name]
	return q.Value()
}

// cores that an instance may use: its limit, else its request, in whole cores.
func cores(r v1alpha1.ClusterResources) int {
	q, limited := r.Limits[corev1.ResourceCPU]
	if !limited {
		q = r.Requests[corev1.ResourceCPU]
	}
	return max(1, int(q.Value()))
}

// major of a version that admission has checked; 0 for any other.
func major(version string) int {
	m, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(m)
	if err != nil {
		return 0
	}
	return n
}

func image(cr *v1alpha1.PgStorageCluster, config Config) string {
	if cr.Spec.Postgres.Image != "" {
		return cr.Spec.Postgres.Image
	}
	return config.ImageRepository + ":" + cr.Spec.Postgres.Version
}

// Instances that the spec asks for.
func Instances(cr *v1alpha1.PgStorageCluster) int32 {
	if cr.Spec.Instances == nil {
		return 1
	}
	return *cr.Spec.Instances
}
