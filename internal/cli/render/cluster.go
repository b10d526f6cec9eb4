package render

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// ready returns the conditions of an object that is assumed to be Ready.
func ready(generation int64) []metav1.Condition {
	return []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonReady, ObservedGeneration: generation}}
}

// cluster plans a PgStorageCluster on its profile, which it assumes to be Ready.
func (b *builder) cluster(cr *v1alpha1.PgStorageCluster) error {
	var p *v1alpha1.PgStorageProfile
	for _, known := range b.documents.Profiles {
		if known.Name == cr.Spec.Profile {
			p = known.DeepCopy()
		}
	}
	if p == nil {
		return fmt.Errorf("spec.profile: PgStorageProfile %s not found in the files; add it with -f", cr.Spec.Profile)
	}
	p.Status.Conditions = ready(p.Generation)
	if p.Spec.Type == v1alpha1.ProfileTypeS3NBD {
		b.assumed("PgStorageProfile %s has no measured flush time yet, so commit_delay is not set", p.Name)
	}
	b.assumed("PgStorageProfile %s is Ready", p.Name)
	facts := observed.Cluster{ForeignAPIs: apis, Profile: p}
	b.backups(cr, &facts)
	built, err := clusters.Build(cr, facts, catalog.All(), b.assume.Config)
	if err != nil {
		return err
	}
	b.images[cr.Namespace+"/"+cr.Name] = imageOf(built.Plan)
	b.scratches[cr.Namespace+"/"+cr.Name] = scratchOf(built.Plan)
	b.add("PgStorageCluster", cr.Namespace, cr.Name, built.Plan)
	b.warnMetadata(cr)
	return rejection(built.Outcomes)
}

// warnMetadata warns about annotations and labels that the operator does not forward.
func (b *builder) warnMetadata(cr *v1alpha1.PgStorageCluster) {
	of := "PgStorageCluster " + cr.Namespace + "/" + cr.Name + ": "
	for _, text := range cnpg.NotForwarded(cr) {
		b.out.Warnings = append(b.out.Warnings, of+text)
	}
	if other := cnpg.OtherMetadata(cr); len(other) > 0 {
		b.out.Warnings = append(b.out.Warnings, of+"the operator does not copy "+strings.Join(other, ", ")+" to the CloudNativePG Cluster")
	}
}

// imageOf returns the Postgres image in a plan; empty without a database.
func imageOf(p plan.Plan) string {
	for _, o := range p.Objects {
		if o.Stage == plan.StageDatabase {
			// A field of another type counts as absent.
			image, _, _ := unstructured.NestedString(o.Content.Object, "spec", "imageName")
			return image
		}
	}
	return ""
}

// scratchOf returns the StorageClasses in a plan, on which layers are measured.
func scratchOf(p plan.Plan) *observed.Scratch {
	out := &observed.Scratch{}
	for _, o := range p.Objects {
		if o.Stage == plan.StageDatabase && out.WAL == "" {
			// A field of another type counts as absent.
			out.WAL, _, _ = unstructured.NestedString(o.Content.Object, "spec", "storage", "storageClass")
			wal, found, _ := unstructured.NestedString(o.Content.Object, "spec", "walStorage", "storageClass")
			if found && wal != out.WAL {
				out.WAL, out.Data = wal, out.WAL
			}
		}
	}
	return out
}
