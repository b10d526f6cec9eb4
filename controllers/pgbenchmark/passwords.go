package pgbenchmark

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/component/pgbench"
)

// passwords creates the Secrets of the roles, before the roles, with random contents.
// The operator never reads a Secret. The names follow from the UID, so a user who may
// create Secrets can create one first, with a known password. The operator deletes a
// Secret that this process did not create, and creates it again.
func (r *Reconciler) passwords(ctx context.Context, b *v1alpha1.PgBenchmark, wanted map[string]string) error {
	for _, object := range slices.Sorted(maps.Keys(wanted)) {
		key := client.ObjectKey{Namespace: b.Namespace, Name: object}
		if _, done := r.created.Load(key); done {
			continue
		}
		if err := r.password(ctx, b, object, wanted[object]); err != nil {
			return err
		}
		r.created.Store(key, true)
	}
	return nil
}

func (r *Reconciler) password(ctx context.Context, b *v1alpha1.PgBenchmark, object, role string) error {
	err := r.Create(ctx, pgbench.Password(b, object, role, rand.Text()))
	if apierrors.IsAlreadyExists(err) {
		if err := r.deleteSecret(ctx, b.Namespace, object); err != nil {
			return err
		}
		err = r.Create(ctx, pgbench.Password(b, object, role, rand.Text()))
	}
	if err != nil {
		return fmt.Errorf("create Secret %s: %w", object, err)
	}
	return nil
}

// deleteSecret by its name, and forget that it was created.
func (r *Reconciler) deleteSecret(ctx context.Context, namespace, name string) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err := client.IgnoreNotFound(r.Delete(ctx, secret)); err != nil {
		return fmt.Errorf("delete Secret %s: %w", name, err)
	}
	r.created.Delete(client.ObjectKeyFromObject(secret))
	return nil
}
