//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/record"
)

// throttledRunner measures with a twentieth of a processor: the figure is the quota's,
// and the benchmark says so.
func throttledRunner(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	b := &v1alpha1.PgBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "throttled"},
		Spec: v1alpha1.PgBenchmarkSpec{Cluster: shop.Name, Pgbench: v1alpha1.PgbenchSpec{
			Scale: 1, Clients: []int32{2}, Duration: "5s", WarmUp: "0s", Script: v1alpha1.ScriptSelectOnly, Integrity: v1alpha1.IntegrityBasic,
			Resources: &v1alpha1.RunnerResources{Requests: amounts("50m", "64Mi"), Limits: amounts("50m", "512Mi")},
		}},
	}
	create(t, b)
	eventually(t, "the result of a throttled runner", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		if b.Status.Phase != "Succeeded" || meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionBelievable) == nil {
			return fmt.Errorf("phase %s", b.Status.Phase)
		}
		return nil
	})
	if found := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionBelievable); found.Status != metav1.ConditionFalse {
		t.Errorf("Believable: %+v", found)
	}
	result := b.Status.Run.Results[0]
	throttled := false
	for _, f := range result.Findings {
		t.Logf("%s: %s: %s: %s", f.Check, f.Verdict, f.Reason, f.Message)
		throttled = throttled || f.Reason == v1alpha1.ReasonPodThrottled
	}
	if !throttled || result.Rejected != 1 {
		t.Errorf("%d rejected, throttled %t: %+v", result.Rejected, throttled, result)
	}
	cm := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: b.Namespace, Name: b.Status.Run.Record}, cm); err != nil {
		t.Fatal("the record:", err)
	}
	kept, err := record.Decode(cm.BinaryData)
	if err != nil || len(kept.Runs) != 1 || len(kept.Runs[0].Seconds) == 0 || len(kept.Runs[0].Facts.Pods) == 0 {
		t.Errorf("%+v %v", kept, err)
	}
}
