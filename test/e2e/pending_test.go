//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// A pod that no node can take keeps its claim without a volume. The remedy is the runbook's.
func TestPodThatNoNodeCanTake(t *testing.T) {
	t.Parallel()
	profile(t)
	cr := cluster(namespace(t), "shop")
	cr.Spec.Resources.Requests = amounts("500", "512Mi")
	create(t, cr)
	eventually(t, "the claim to be named", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(cr), cr); err != nil {
			return err
		}
		d := meta.FindStatusCondition(cr.Status.Conditions, v1alpha1.ConditionDatabaseReady)
		if d == nil || d.Reason != v1alpha1.ReasonVolumesPending || !strings.Contains(d.Message, "claims without a volume: shop-1 (") {
			return fmt.Errorf("%+v", d)
		}
		return nil
	})
	patch(t, cr, func(s *v1alpha1.PgStorageClusterSpec) { s.Resources.Requests = amounts("100m", "512Mi") })
	eventually(t, "the Cluster to have the requests", func(ctx context.Context) error {
		pg := &cnpgv1.Cluster{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(cr), pg); err != nil {
			return err
		}
		if cpu := pg.Spec.Resources.Requests.Cpu(); cpu.String() != "100m" {
			return fmt.Errorf("%s", cpu)
		}
		return nil
	})
	// CloudNativePG does not change the Job, which keeps the former requests.
	kubectl(t, "-n", cr.Namespace, "delete", "job", "shop-1-initdb")
	ready(t, cr)
}
