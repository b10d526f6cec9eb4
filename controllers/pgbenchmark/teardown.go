package pgbenchmark

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/decide/benchmarks"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// removeSuperuser deletes the superuser that observed the server: its role, then its
// password. Nothing in the database depends on it, and nothing needs it after the checks.
// It returns what it waits for, or "".
func (r *Reconciler) removeSuperuser(ctx context.Context, b *v1alpha1.PgBenchmark, facts observed.Benchmark) (string, error) {
	if facts.CheckRole != nil {
		return benchmarks.WaitsForSuperuser, r.delete(ctx, facts.CheckRole)
	}
	if benchmarks.SuperuserRemoved(b) {
		return "", nil
	}
	return "", r.deleteSecret(ctx, b.Namespace, naming.BenchmarkChecker(b.Name, string(b.UID)))
}

// teardown deletes the objects of a benchmark, each once nothing needs it any more. The
// Job's connections keep the database, and the role owns the database. So the order is
// Job, database, role, then its Secret and the runner's access. It returns what it
// waits for, or "".
func (r *Reconciler) teardown(ctx context.Context, b *v1alpha1.PgBenchmark, facts observed.Benchmark) (string, error) {
	// The superuser goes at the same time. One that cannot be dropped must not keep the
	// rest.
	superuser, err := r.removeSuperuser(ctx, b, facts)
	if err != nil {
		return "", err
	}
	if facts.Job != nil {
		return benchmarks.WaitsForJob, r.delete(ctx, facts.Job)
	}
	if facts.Database != nil {
		return benchmarks.WaitsForDatabase, r.delete(ctx, facts.Database)
	}
	if facts.Role != nil {
		return benchmarks.WaitsForRole, r.delete(ctx, facts.Role)
	}
	if superuser != "" {
		return superuser, nil
	}
	return "", r.removeAccess(ctx, b)
}

func (r *Reconciler) delete(ctx context.Context, obj client.Object) error {
	if !obj.GetDeletionTimestamp().IsZero() {
		return nil
	}
	return apply.Delete(ctx, r.Client, obj)
}

// removeAccess deletes objects by name, without reading them: the names contain the UID of
// the benchmark.
func (r *Reconciler) removeAccess(ctx context.Context, b *v1alpha1.PgBenchmark) error {
	if benchmarks.AccessRemoved(b) {
		return nil
	}
	uid := string(b.UID)
	name := metav1.ObjectMeta{Namespace: b.Namespace, Name: naming.BenchmarkObject(b.Name, uid)}
	for _, secret := range []string{name.Name, naming.BenchmarkChecker(b.Name, uid)} {
		if err := r.deleteSecret(ctx, b.Namespace, secret); err != nil {
			return err
		}
	}
	for _, obj := range []client.Object{
		&corev1.ConfigMap{ObjectMeta: name},
		&rbacv1.RoleBinding{ObjectMeta: name}, &rbacv1.Role{ObjectMeta: name}, &corev1.ServiceAccount{ObjectMeta: name},
	} {
		if err := client.IgnoreNotFound(r.Delete(ctx, obj)); err != nil {
			return fmt.Errorf("delete %T %s: %w", obj, obj.GetName(), err)
		}
	}
	return nil
}
