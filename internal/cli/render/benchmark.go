package render

import (
	"fmt"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/decide/benchmarks"
	"github.com/pgstorage/pgstorage/internal/operator/decide/matrices"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// target returns the cluster of a benchmark, which it assumes to be Ready.
func (b *builder) target(pb *v1alpha1.PgBenchmark) (*v1alpha1.PgStorageCluster, error) {
	for _, known := range b.documents.Clusters {
		if known.Namespace == pb.Namespace && known.Name == pb.Spec.Cluster {
			target := known.DeepCopy()
			target.Status.Conditions = ready(target.Generation)
			return target, nil
		}
	}
	return nil, fmt.Errorf("spec.cluster: PgStorageCluster %s in namespace %s not found in the files; add it with -f", pb.Spec.Cluster, pb.Namespace)
}

// matrix plans what the first run of a matrix needs. The operator creates clusters and
// runs one after the other.
func (b *builder) matrix(pb *v1alpha1.PgBenchmark) error {
	var facts observed.Matrix
	if pb.Spec.Template == nil {
		target, err := b.target(pb)
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
	target, err := b.target(pb)
	if err != nil {
		return err
	}
	b.assumeBenchmark(pb, target)
	facts := observed.Benchmark{
		ForeignAPIs: apis, Target: target, Image: b.images[target.Namespace+"/"+target.Name], Scratch: b.scratches[target.Namespace+"/"+target.Name],
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
