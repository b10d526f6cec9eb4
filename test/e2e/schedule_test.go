//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// scheduledBenchmark begins at the next minute, and no further one once the schedule is
// suspended.
func scheduledBenchmark(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	s := &v1alpha1.PgScheduledBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "minutely"},
		Spec: v1alpha1.PgScheduledBenchmarkSpec{
			Schedule: "* * * * *",
			Template: v1alpha1.BenchmarkTemplate{Spec: v1alpha1.PgBenchmarkSpec{
				Cluster: shop.Name,
				Pgbench: v1alpha1.PgbenchSpec{Scale: 1, Clients: []int32{1}, Duration: "2s", WarmUp: "0s", Integrity: v1alpha1.IntegrityBasic},
			}},
		},
	}
	create(t, s)
	eventually(t, "a run of the schedule to begin", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil {
			return err
		}
		if s.Status.LastScheduleTime == nil {
			return fmt.Errorf("the next is due at %s", s.Status.NextScheduleTime)
		}
		return nil
	})
	before := s.DeepCopy()
	s.Spec.Suspend = true
	if err := c.Patch(t.Context(), s, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the result of the run, and the schedule to rest", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil {
			return err
		}
		scheduled := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionScheduled)
		if s.Status.LastResult == nil || len(s.Status.Active) > 0 || scheduled == nil || scheduled.Reason != v1alpha1.ReasonSuspended {
			return fmt.Errorf("active %v, conditions %+v", s.Status.Active, s.Status.Conditions)
		}
		return nil
	})
	if last := s.Status.LastResult; last.Phase != "Succeeded" || last.TPS == "" || last.Durability != v1alpha1.DurabilityLocal || !meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionLastRunSucceeded) {
		t.Errorf("%+v, conditions %+v", last, s.Status.Conditions)
	}
	runs := &v1alpha1.PgBenchmarkList{}
	if err := c.List(t.Context(), runs, client.InNamespace(shop.Namespace), client.MatchingLabels{naming.LabelSchedule: s.Name}); err != nil {
		t.Fatal(err)
	}
	if len(runs.Items) != 1 || runs.Items[0].Name != s.Status.LastResult.Benchmark {
		t.Errorf("%d runs for one minute; the last result is of %s", len(runs.Items), s.Status.LastResult.Benchmark)
	}
	says(t, plugin(t, shop.Namespace, "status", "pgsb/"+s.Name), "PgScheduledBenchmark "+shop.Namespace+"/"+s.Name, "Suspended", s.Status.LastResult.Benchmark)
}
