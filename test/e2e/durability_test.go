//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// durabilityIsVerified on the real instances, and is not beside a role that has less. A
// change of the spec has the operator read back at once.
func durabilityIsVerified(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	verified := func(status metav1.ConditionStatus, reason, commits string) {
		t.Helper()
		eventually(t, "DurabilityVerified "+reason, func(ctx context.Context) error {
			if err := c.Get(ctx, client.ObjectKeyFromObject(shop), shop); err != nil {
				return err
			}
			if err := holds(shop.Status.Conditions, v1alpha1.ConditionDurabilityVerified, status, reason); err != nil {
				return err
			}
			for _, l := range shop.Status.Durability.Losses {
				if l.Event == "ProcessCrash" && l.AcknowledgedCommits != commits {
					return fmt.Errorf("%+v", l)
				}
			}
			return nil
		})
	}
	verified(metav1.ConditionTrue, v1alpha1.ReasonVerified, "Kept")
	primary := shop.Status.Database.Primary
	psql(t, shop.Namespace, primary, "ALTER ROLE app SET synchronous_commit = off")
	patch(t, shop, func(s *v1alpha1.PgStorageClusterSpec) { s.Postgres.Parameters = map[string]string{"work_mem": "5MB"} })
	verified(metav1.ConditionFalse, v1alpha1.ReasonDurabilityOverridden, "MayBeLost")
	psql(t, shop.Namespace, primary, "ALTER ROLE app RESET synchronous_commit")
	patch(t, shop, func(s *v1alpha1.PgStorageClusterSpec) { s.Postgres.Parameters = nil })
	verified(metav1.ConditionTrue, v1alpha1.ReasonVerified, "Kept")
	ready(t, shop)
}
