package pgbenchmark

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// superuserGone is in the message of what is kept.
const superuserGone = "the superuser that observed the server is gone"

// retire removes the superuser that observed the server, which nothing needs after the
// checks: its role, then its password. Nothing in the database depends on it. It returns
// what it waits for, or "".
func (r *Reconciler) retire(ctx context.Context, b *v1alpha1.PgBenchmark, facts observed.Benchmark) (string, error) {
	if facts.CheckRole != nil {
		return "waits until CloudNativePG has dropped the superuser that observed the server", r.delete(ctx, facts.CheckRole)
	}
	if retired(b) {
		return "", nil
	}
	return "", r.deleteSecret(ctx, b.Namespace, naming.BenchmarkChecker(b.Name, string(b.UID)))
}

// teardown removes what a benchmark made, in the order in which it can go: the superuser,
// which goes first so that nothing else keeps it; the Job, whose connections hold the
// database; the database, which the role owns; the role; then its Secret and the runner's
// access. It returns what it waits for, or "".
func (r *Reconciler) teardown(ctx context.Context, b *v1alpha1.PgBenchmark, facts observed.Benchmark) (string, error) {
	// Both at once: a superuser that cannot be dropped must not keep the rest.
	retiring, err := r.retire(ctx, b, facts)
	if err != nil {
		return "", err
	}
	if facts.Job != nil {
		return "waits until the Job is gone", r.delete(ctx, facts.Job)
	}
	if facts.Database != nil {
		return "waits until CloudNativePG has dropped the benchmark's database", r.delete(ctx, facts.Database)
	}
	if facts.Role != nil {
		return "waits until CloudNativePG has dropped the benchmark's role", r.delete(ctx, facts.Role)
	}
	if retiring != "" {
		return retiring, nil
	}
	return "", r.removeAccess(ctx, b)
}

func (r *Reconciler) delete(ctx context.Context, obj client.Object) error {
	if !obj.GetDeletionTimestamp().IsZero() {
		return nil
	}
	return apply.Delete(ctx, r.Client, obj)
}

// removeAccess deletes by name: the names hold the UID of the benchmark.
func (r *Reconciler) removeAccess(ctx context.Context, b *v1alpha1.PgBenchmark) error {
	if b.Status.Conditions != nil && cleaned(b) {
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

// cleaned says whether the status shows that access was removed before.
func cleaned(b *v1alpha1.PgBenchmark) bool {
	c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionCleanedUp)
	return c != nil && c.Status == metav1.ConditionTrue && c.Reason == v1alpha1.ReasonCleanedUp
}

// retired says whether the status shows that the superuser was removed before. A status
// of an older version of the operator, which kept it, has another message.
func retired(b *v1alpha1.PgBenchmark) bool {
	c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionCleanedUp)
	return c != nil && c.Status == metav1.ConditionTrue && (c.Reason == v1alpha1.ReasonCleanedUp || strings.Contains(c.Message, superuserGone))
}

// finalize tears everything down before a deleted benchmark goes.
func (r *Reconciler) finalize(ctx context.Context, b *v1alpha1.PgBenchmark, facts observed.Benchmark) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(b, naming.BenchmarkFinalizer) {
		return reconcile.Result{}, nil
	}
	waits, err := r.teardown(ctx, b, facts)
	if err != nil {
		return reconcile.Result{}, err
	}
	if waits != "" {
		return reconcile.Result{RequeueAfter: pollInterval}, r.report(ctx, b, facts, outcome.WaitFor(v1alpha1.ConditionCleanedUp, v1alpha1.ReasonDeleting, waits))
	}
	return reconcile.Result{}, apply.RemoveFinalizer(ctx, r.Client, b, naming.BenchmarkFinalizer)
}
