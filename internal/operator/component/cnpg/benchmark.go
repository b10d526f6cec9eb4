package cnpg

import (
	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	cnpgac "github.com/pgstorage/pgstorage/internal/operator/extapply/cnpg/api/v1"
	machineryac "github.com/pgstorage/pgstorage/internal/operator/extapply/cnpg/pkg/api"
)

const benchmarkKind = "PgBenchmark"

// BenchmarkRole owns the benchmark's database and nothing else. It is written again as
// often as asked says.
func BenchmarkRole(b *v1alpha1.PgBenchmark, asked string) *cnpgac.DatabaseRoleApplyConfiguration {
	return role(b, asked, naming.BenchmarkObject(b.Name, string(b.UID)), naming.BenchmarkDatabase(string(b.UID)), "database owner of PgBenchmark "+b.Name, false)
}

// CheckRole is the superuser that observes the server. It is dropped when the benchmark
// has ended.
func CheckRole(b *v1alpha1.PgBenchmark, asked string) *cnpgac.DatabaseRoleApplyConfiguration {
	return role(b, asked, naming.BenchmarkChecker(b.Name, string(b.UID)), naming.BenchmarkCheckRole(string(b.UID)), "pg_amcheck of PgBenchmark "+b.Name, true)
}

func role(b *v1alpha1.PgBenchmark, asked, object, name, comment string, superuser bool) *cnpgac.DatabaseRoleApplyConfiguration {
	out := cnpgac.DatabaseRole(object, b.Namespace).
		WithLabels(naming.BenchmarkLabels(b.Name)).
		WithOwnerReferences(plan.ControllerReference(benchmarkKind, b)).
		WithSpec(cnpgac.DatabaseRoleSpec().
			WithName(name).
			WithComment(comment).
			WithLogin(true).
			WithSuperuser(superuser).
			WithPasswordSecret(machineryac.LocalObjectReference().WithName(object)).
			WithClusterRef(corev1.LocalObjectReference{Name: b.Spec.Cluster}).
			WithReclaimPolicy(cnpgv1.DatabaseRoleReclaimDelete))
	if asked != "" {
		out.WithAnnotations(map[string]string{naming.AnnotationAsked: asked})
	}
	return out
}

// BenchmarkDatabase is the database that the benchmark fills and drops.
func BenchmarkDatabase(b *v1alpha1.PgBenchmark) *cnpgac.DatabaseApplyConfiguration {
	name := naming.BenchmarkDatabase(string(b.UID))
	return cnpgac.Database(naming.BenchmarkObject(b.Name, string(b.UID)), b.Namespace).
		WithLabels(naming.BenchmarkLabels(b.Name)).
		WithOwnerReferences(plan.ControllerReference(benchmarkKind, b)).
		WithSpec(cnpgac.DatabaseSpec().
			WithName(name).
			WithOwner(name).
			WithClusterRef(corev1.LocalObjectReference{Name: b.Spec.Cluster}).
			WithReclaimPolicy(cnpgv1.DatabaseReclaimDelete))
}
