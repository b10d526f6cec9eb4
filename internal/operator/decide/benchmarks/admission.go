package benchmarks

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/pgbench"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Admits says whether a benchmark may run on a cluster. The cluster's policy can allow
// it, the cluster's spec can declare that very benchmark, or a matrix created the
// cluster for it. An owner reference proves nothing, because the author of a
// PgBenchmark writes it.
func Admits(cluster *v1alpha1.PgStorageCluster, b *v1alpha1.PgBenchmark) bool {
	return cluster.Spec.BenchmarkPolicy == v1alpha1.BenchmarkAny || ofMatrix(cluster) || declares(cluster, b)
}

func declares(cluster *v1alpha1.PgStorageCluster, b *v1alpha1.PgBenchmark) bool {
	if cluster.Spec.Benchmark == nil || b.Name != clusters.BenchmarkName(cluster) {
		return false
	}
	return equality.Semantic.DeepEqual(b.Spec, v1alpha1.PgBenchmarkSpec{Cluster: cluster.Name, Pgbench: cluster.Spec.Benchmark.PgbenchSpec})
}

// NeedsConsent says why a cluster does not admit a benchmark, and the command that
// makes it.
func NeedsConsent(namespace, cluster string) string {
	return fmt.Sprintf(msgConsentRequired, cluster, ConsentCommand(namespace, cluster))
}

// ConsentCommand makes a cluster admit every PgBenchmark of its namespace.
func ConsentCommand(namespace, cluster string) string {
	return fmt.Sprintf(`kubectl -n %s patch pgsc %s --type=merge -p '{"spec":{"benchmarkPolicy":"Any"}}'`, namespace, cluster)
}

// admitted says whether a benchmark may run, and else which cluster does not admit it, and how
// it would. The cluster that the target follows has to admit it too, because the benchmark
// loads its tables there.
func admitted(b *v1alpha1.PgBenchmark, facts observed.Benchmark) outcome.Outcome {
	const c = v1alpha1.ConditionTargetReady
	if source := pgbench.Source(facts.Target); source != "" && facts.Source == nil {
		return outcome.WaitFor(c, v1alpha1.ReasonClusterNotFound, fmt.Sprintf(msgSourceNotFound, source, b.Spec.Cluster))
	}
	for _, cr := range []*v1alpha1.PgStorageCluster{facts.Target, facts.Source} {
		if cr != nil && !Admits(cr, b) {
			return outcome.WaitFor(c, v1alpha1.ReasonConsentRequired, NeedsConsent(b.Namespace, cr.Name))
		}
	}
	return outcome.DoneWith(c, v1alpha1.ReasonReady, "")
}

// ofMatrix says that a matrix has made a cluster for itself: nothing is in it but
// pgbench's tables.
func ofMatrix(cluster *v1alpha1.PgStorageCluster) bool {
	owner := metav1.GetControllerOf(cluster)
	return owner != nil && owner.Kind == "PgBenchmark" && owner.APIVersion == v1alpha1.GroupVersion.String()
}
