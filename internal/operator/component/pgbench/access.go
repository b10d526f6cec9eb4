// Package pgbench builds the objects that run a PgBenchmark: the runner's permissions,
// its instructions, and its Job.
package pgbench

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	rbacv1ac "k8s.io/client-go/applyconfigurations/rbac/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
)

const kind = "PgBenchmark"

// ServiceAccount of the runner.
func ServiceAccount(b *v1alpha1.PgBenchmark) *corev1ac.ServiceAccountApplyConfiguration {
	return corev1ac.ServiceAccount(naming.BenchmarkObject(b.Name, string(b.UID)), b.Namespace).
		WithLabels(naming.BenchmarkLabels(b.Name)).
		WithOwnerReferences(plan.ControllerReference(kind, b)).
		WithAutomountServiceAccountToken(false)
}

// Role lets the runner write the status of its own PgBenchmark, and what is in the
// ConfigMap of its record, and no more. It can make none.
func Role(b *v1alpha1.PgBenchmark) *rbacv1ac.RoleApplyConfiguration {
	return rbacv1ac.Role(naming.BenchmarkObject(b.Name, string(b.UID)), b.Namespace).
		WithLabels(naming.BenchmarkLabels(b.Name)).
		WithOwnerReferences(plan.ControllerReference(kind, b)).
		WithRules(rbacv1ac.PolicyRule().
			WithAPIGroups(v1alpha1.GroupVersion.Group).
			WithResources("pgbenchmarks/status").
			WithResourceNames(b.Name).
			WithVerbs("patch"),
			rbacv1ac.PolicyRule().
				WithAPIGroups(corev1.GroupName).
				WithResources("configmaps").
				WithResourceNames(naming.BenchmarkRecord(b.Name, string(b.UID))).
				WithVerbs("patch"))
}

// RoleBinding gives Role to ServiceAccount.
func RoleBinding(b *v1alpha1.PgBenchmark) *rbacv1ac.RoleBindingApplyConfiguration {
	name := naming.BenchmarkObject(b.Name, string(b.UID))
	return rbacv1ac.RoleBinding(name, b.Namespace).
		WithLabels(naming.BenchmarkLabels(b.Name)).
		WithOwnerReferences(plan.ControllerReference(kind, b)).
		WithRoleRef(rbacv1ac.RoleRef().WithAPIGroup("rbac.authorization.k8s.io").WithKind("Role").WithName(name)).
		WithSubjects(rbacv1ac.Subject().WithKind("ServiceAccount").WithName(name).WithNamespace(b.Namespace))
}

// Password is the Secret of a role, in the form that CloudNativePG reads
// (https://cloudnative-pg.io/documentation/current/declarative_role_management/).
func Password(b *v1alpha1.PgBenchmark, object, role, password string) *corev1.Secret {
	yes := true
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name:            object,
			Namespace:       b.Namespace,
			Labels:          naming.BenchmarkLabels(b.Name),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: kind, Name: b.Name, UID: b.UID, Controller: &yes}},
		},
		Type: corev1.SecretTypeBasicAuth,
		// Nothing can replace the password of a role with an update.
		Immutable: &yes,
		StringData: map[string]string{
			corev1.BasicAuthUsernameKey: role,
			corev1.BasicAuthPasswordKey: password,
		},
	}
}
