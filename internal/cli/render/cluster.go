package render

import (
	"fmt"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/decide/benchmarks"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/decide/matrices"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// ready is the condition of what is taken to be there.
func ready(generation int64) []metav1.Condition {
	return []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonReady, ObservedGeneration: generation}}
}

func (b *builder) cluster(cr *v1alpha1.PgStorageCluster) error {
	var p *v1alpha1.PgStorageProfile
	for _, known := range b.documents.Profiles {
		if known.Name == cr.Spec.Profile {
			p = known.DeepCopy()
		}
	}
	if p == nil {
		return fmt.Errorf("spec.profile: PgStorageProfile %s is in none of the files, and the database follows from it; add it by -f", cr.Spec.Profile)
	}
	p.Status.Conditions = ready(p.Generation)
	if p.Spec.Type == v1alpha1.ProfileTypeS3NBD {
		b.assumed("no flush of PgStorageProfile %s was measured yet, so commit_delay is not set", p.Name)
	}
	b.assumed("PgStorageProfile %s is Ready", p.Name)
	facts := observed.Cluster{ForeignAPIs: apis, Profile: p}
	built, err := clusters.Build(cr, facts, b.assume.Config)
	if err != nil {
		return err
	}
	b.images[cr.Namespace+"/"+cr.Name] = imageOf(built.Plan)
	b.scratches[cr.Namespace+"/"+cr.Name] = scratchOf(built.Plan)
	b.add("PgStorageCluster", cr.Namespace, cr.Name, built.Plan)
	b.noteMetadata(cr)
	return refusal(built.Outcomes)
}

// noteMetadata names the annotations and labels that do not reach the database.
func (b *builder) noteMetadata(cr *v1alpha1.PgStorageCluster) {
	of := "PgStorageCluster " + cr.Namespace + "/" + cr.Name + ": "
	for _, text := range cnpg.NotForwarded(cr) {
		b.result.Notes = append(b.result.Notes, of+text)
	}
	if other := cnpg.OtherMetadata(cr); len(other) > 0 {
		b.result.Notes = append(b.result.Notes, of+"the CloudNativePG Cluster does not get "+strings.Join(other, ", "))
	}
}

// imageOf the database of a plan.
func imageOf(p plan.Plan) string {
	for _, o := range p.Objects {
		if o.Stage == plan.StageDatabase {
			// One of another type is no image either.
			image, _, _ := unstructured.NestedString(o.Content.Object, "spec", "imageName")
			return image
		}
	}
	return ""
}

// scratchOf the database of a plan: where the layers of its storage are measured.
func scratchOf(p plan.Plan) *observed.Scratch {
	out := &observed.Scratch{}
	for _, o := range p.Objects {
		if o.Stage == plan.StageDatabase && out.WAL == "" {
			// One of another type is no class either.
			out.WAL, _, _ = unstructured.NestedString(o.Content.Object, "spec", "storage", "storageClass")
			wal, found, _ := unstructured.NestedString(o.Content.Object, "spec", "walStorage", "storageClass")
			if found && wal != out.WAL {
				out.WAL, out.Data = wal, out.WAL
			}
		}
	}
	return out
}

// measured is the cluster that a benchmark names, taken to be Ready.
func (b *builder) measured(pb *v1alpha1.PgBenchmark) (*v1alpha1.PgStorageCluster, error) {
	for _, known := range b.documents.Clusters {
		if known.Namespace == pb.Namespace && known.Name == pb.Spec.Cluster {
			target := known.DeepCopy()
			target.Status.Conditions = ready(target.Generation)
			return target, nil
		}
	}
	return nil, fmt.Errorf("spec.cluster: PgStorageCluster %s of namespace %s is in none of the files, and the Job follows from it; add it by -f", pb.Spec.Cluster, pb.Namespace)
}

// sweep is a matrix: its clusters and runs are made one after the other.
func (b *builder) sweep(pb *v1alpha1.PgBenchmark) error {
	var facts observed.Matrix
	if pb.Spec.Template == nil {
		target, err := b.measured(pb)
		if err != nil {
			return err
		}
		b.assumed("PgStorageCluster %s is Ready", target.Name)
		facts.Clusters = append(facts.Clusters, target)
	} else {
		b.assumed("the manager was started with --feature-gates=MatrixClusters=true")
	}
	step, err := matrices.Decide(pb, facts, pb.CreationTimestamp)
	if err != nil {
		return err
	}
	b.assumed("of the matrix %s only what its first run begins with is shown; everything else is made in its turn", pb.Name)
	b.add("PgBenchmark", pb.Namespace, pb.Name, step.Plan)
	return refusal(step.Outcomes)
}

func (b *builder) benchmark(pb *v1alpha1.PgBenchmark) error {
	if pb.Spec.Matrix != nil {
		return b.sweep(pb)
	}
	target, err := b.measured(pb)
	if err != nil {
		return err
	}
	b.assumed("PgStorageCluster %s is Ready, and CloudNativePG has made roles and database of its benchmarks", target.Name)
	for _, s := range pb.Spec.Pgbench.CustomScripts {
		b.assumed("ConfigMap %s has the key %s", s.ConfigMap, s.Key)
	}
	if pb.Spec.Layers != nil {
		b.assumed("a scratch volume can be had of each StorageClass of PgStorageCluster %s, on the node of its primary", target.Name)
	}
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
	return refusal([]outcome.Outcome{built.Target})
}
