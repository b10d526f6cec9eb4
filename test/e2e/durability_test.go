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
			crash, err := loss(shop, "ProcessCrash")
			if err == nil && crash.AcknowledgedCommits != commits {
				err = fmt.Errorf("%+v", crash)
			}
			return err
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

// loss is what the status of a database says of one event.
func loss(cr *v1alpha1.PgStorageCluster, event string) (v1alpha1.LossEvent, error) {
	if d := cr.Status.Durability; d != nil {
		for _, l := range d.Losses {
			if l.Event == event {
				return l, nil
			}
		}
	}
	return v1alpha1.LossEvent{}, fmt.Errorf("%s is not in status.durability: %+v", event, cr.Status.Durability)
}
