//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

func TestDeletedDatabaseReleasesItsVolumes(t *testing.T) {
	t.Parallel()
	profile(t)
	ns := namespace(t)
	kept, removed := cluster(ns, "kept"), cluster(ns, "removed")
	removed.Spec.DeletionPolicy = v1alpha1.DeletionDelete
	create(t, kept, removed)
	ready(t, kept)
	ready(t, removed)
	primary := kept.Status.Database.Primary
	psql(t, ns, primary, "CREATE TABLE kept (id int); INSERT INTO kept VALUES (7)")
	pods := podUIDs(t, kept)
	for _, cr := range []*v1alpha1.PgStorageCluster{kept, removed} {
		if err := c.Delete(t.Context(), cr); err != nil {
			t.Fatal(err)
		}
		eventually(t, cr.Name+" to be deleted", func(ctx context.Context) error {
			err := c.Get(ctx, client.ObjectKeyFromObject(cr), cr)
			if apierrors.IsNotFound(err) {
				return nil
			}
			return errors.Join(errors.New("it is there"), err)
		})
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(kept), &cnpgv1.Cluster{}); err != nil {
		t.Errorf("Retain did not keep the database: %v", err)
	}
	if got := psql(t, ns, primary, "SELECT id FROM kept"); got != "7" {
		t.Errorf("Retain did not keep the row: %q", got)
	}
	if got := podUIDs(t, kept); len(got) != len(pods) || got[primary] != pods[primary] {
		t.Errorf("Retain touched the pods: %v, were %v", got, pods)
	}
	eventually(t, "the claims of the removed database to be gone", func(ctx context.Context) error {
		claims := &corev1.PersistentVolumeClaimList{}
		if err := c.List(ctx, claims, client.InNamespace(ns), client.MatchingLabels{"cnpg.io/cluster": "removed"}); err != nil {
			return err
		}
		if len(claims.Items) > 0 {
			return fmt.Errorf("%d claims", len(claims.Items))
		}
		err := c.Get(ctx, client.ObjectKeyFromObject(removed), &cnpgv1.Cluster{})
		if !apierrors.IsNotFound(err) {
			return errors.Join(errors.New("the Cluster is there"), err)
		}
		return nil
	})
}
