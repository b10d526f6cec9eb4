package render

import (
	"fmt"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/readpool"
	"github.com/pgstorage/pgstorage/internal/operator/decide/benchmarks"
	"github.com/pgstorage/pgstorage/internal/operator/decide/matrices"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// target returns the cluster of a benchmark, which it assumes to be Ready, and the one that it
// follows; nil where it follows none.
func (b *builder) target(pb *v1alpha1.PgBenchmark) (target, source *v1alpha1.PgStorageCluster, err error) {
	for _, known := range b.documents.Clusters {
		if known.Namespace != pb.Namespace {
			continue
		}
		if known.Name == pb.Spec.Cluster {
			return isReady(known), nil, nil
		}
		for _, p := range known.Spec.ReadPools {
			if naming.ReadPool(known.Name, p.Name) == pb.Spec.Cluster {
				return b.pool(known, p), isReady(known), nil
			}
		}
	}
	return nil, nil, fmt.Errorf("spec.cluster: PgStorageCluster %s in namespace %s not found in the files; add it with -f", pb.Spec.Cluster, pb.Namespace)
}

func isReady(cr *v1alpha1.PgStorageCluster) *v1alpha1.PgStorageCluster {
	cr = cr.DeepCopy()
	cr.Status.Conditions = ready(cr.Generation)
	return cr
}

// pool is the PgStorageCluster of a read pool, which waits for consent to benchmarks.
func (b *builder) pool(cr *v1alpha1.PgStorageCluster, p v1alpha1.ReadPool) *v1alpha1.PgStorageCluster {
	name := naming.ReadPool(cr.Name, p.Name)
	out := &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: cr.Namespace, Name: name}, Spec: readpool.Spec(cr, p)}
	out.Spec.BenchmarkPolicy = v1alpha1.BenchmarkAny
	b.assumed("PgStorageCluster %s has benchmarkPolicy: Any", name)
	b.images[cr.Namespace+"/"+name] = b.images[cr.Namespace+"/"+cr.Name]
	return isReady(out)
}

// matrix plans what the first run of a matrix needs. The operator creates clusters and
// runs one after the other.
func (b *builder) matrix(pb *v1alpha1.PgBenchmark) error {
	var facts observed.Matrix
	if pb.Spec.Template == nil {
		target, _, err := b.target(pb)
		if err != nil {
			return err
		}
		b.assumed("PgStorageCluster %s is Ready", target.Name)
		facts.Clusters = append(facts.Clusters, target)
	} else {
		b.assumed("the manager runs with --feature-gates=MatrixClusters=true")
	}
	step, err := matrices.Decide(pb, facts, pb.CreationTimestamp)
	if err != nil {
		return err
	}
	b.assumed("matrix %s is at its beginning; the output has only the objects that the operator creates first", pb.Name)
	b.add("PgBenchmark", pb.Namespace, pb.Name, step.Plan)
	return rejection(step.Outcomes)
}

func (b *builder) benchmark(pb *v1alpha1.PgBenchmark) error {
	if pb.Spec.Matrix != nil {
		return b.matrix(pb)
	}
	target, source, err := b.target(pb)
	if err != nil {
		return err
	}
	b.assumeBenchmark(pb, target)
	facts := observed.Benchmark{
		ForeignAPIs: apis, Target: target, Source: source, Image: b.images[target.Namespace+"/"+target.Name], Scratch: b.scratches[target.Namespace+"/"+target.Name],
		Role:      &cnpgv1.DatabaseRole{Status: cnpgv1.DatabaseRoleStatus{Applied: new(true)}},
		CheckRole: &cnpgv1.DatabaseRole{Status: cnpgv1.DatabaseRoleStatus{Applied: new(true)}},
		Database:  &cnpgv1.Database{Status: cnpgv1.DatabaseStatus{Applied: new(true)}},
	}
	built, err := benchmarks.Build(pb, facts, b.assume.Config)
	if err != nil {
		return err
	}
	b.add("PgBenchmark", pb.Namespace, pb.Name, built.Plan)
	return rejection([]outcome.Outcome{built.Target})
}

// assumeBenchmark records what the plan of a benchmark assumes about its target.
func (b *builder) assumeBenchmark(pb *v1alpha1.PgBenchmark, target *v1alpha1.PgStorageCluster) {
	b.assumed("PgStorageCluster %s is Ready, and CloudNativePG has created the roles and the database of its benchmarks", target.Name)
	for _, s := range pb.Spec.Pgbench.CustomScripts {
		b.assumed("ConfigMap %s has the key %s", s.ConfigMap, s.Key)
	}
	if pb.Spec.Layers != nil {
		b.assumed("each StorageClass of PgStorageCluster %s can provision a scratch volume on the node of the primary", target.Name)
	}
}
