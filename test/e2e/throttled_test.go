//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/record"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
	"github.com/pgstorage/pgstorage/internal/testing/long"
)

// throttledRunner measures with a twentieth of a processor: the figure is that of the
// runner's quota, and the benchmark rejects it.
func throttledRunner(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	b := selecting(shop, "throttled")
	b.Spec.Pgbench.Clients, b.Spec.Pgbench.Integrity = []int32{2}, v1alpha1.IntegrityBasic
	b.Spec.Pgbench.Resources = &v1alpha1.RunnerResources{Requests: amounts("50m", "64Mi"), Limits: amounts("50m", "512Mi")}
	create(t, b)
	if found := judged(t, b); found.Status != metav1.ConditionFalse {
		t.Errorf("Believable: %+v", found)
	}
	result := b.Status.Run.Results[0]
	if f := throttling(t, result); f.Reason != v1alpha1.ReasonPodThrottled || result.Rejected != 1 {
		t.Errorf("%d rejected: %+v", result.Rejected, f)
	}
	kept := recordOf(t, b)
	if len(kept.Runs) != 1 || len(kept.Runs[0].Seconds) == 0 || len(kept.Runs[0].Facts.Pods) == 0 {
		t.Errorf("%+v", kept)
	}
}

// declaredLimit measures a database at the CPU limit that it declares: the figure counts, and
// the benchmark names the limit.
func declaredLimit(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	long.Skip(t, "make test-e2e")
	limited := cluster(shop.Namespace, "limited")
	limited.Spec.Resources.Limits[corev1.ResourceCPU] = resource.MustParse("300m")
	create(t, limited)
	ready(t, limited)
	b := selecting(limited, "at-limit")
	b.Spec.Pgbench.Clients = []int32{4}
	create(t, b)
	if found := judged(t, b); found.Status != metav1.ConditionTrue || found.Reason != v1alpha1.ReasonCautions || !strings.Contains(found.Message, validity.LimitSetsRate) {
		t.Errorf("Believable: %+v", found)
	}
	result := b.Status.Run.Results[0]
	f := throttling(t, result)
	if f.Verdict != string(validity.Caution) || f.Reason != validity.ReasonCPULimitReached || result.Rejected != 0 || result.TPS == "" || !strings.Contains(f.Message, "CPU limit of 0.3") {
		t.Errorf("%d rejected, TPS %q: %+v", result.Rejected, result.TPS, f)
	}
	if limit := validity.DeclaredLimit(recordOf(t, b).Runs[0].Facts); limit == nil || *limit != 0.3 {
		t.Errorf("the record has the limit %v", limit)
	}
	if err := c.Delete(t.Context(), limited); err != nil {
		t.Error(err)
	}
}

// selecting is a short benchmark of reads from memory, which processors limit.
func selecting(target *v1alpha1.PgStorageCluster, name string) *v1alpha1.PgBenchmark {
	return &v1alpha1.PgBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: target.Namespace, Name: name},
		Spec: v1alpha1.PgBenchmarkSpec{Cluster: target.Name, Pgbench: v1alpha1.PgbenchSpec{
			Scale: 1, Duration: "5s", WarmUp: "0s", Script: v1alpha1.ScriptSelectOnly,
		}},
	}
}

// judged waits for the result of a benchmark and returns its condition Believable.
func judged(t *testing.T, b *v1alpha1.PgBenchmark) *metav1.Condition {
	t.Helper()
	eventually(t, "the result of PgBenchmark "+b.Name, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		if b.Status.Phase != "Succeeded" || meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionBelievable) == nil {
			return fmt.Errorf("phase %s", b.Status.Phase)
		}
		return nil
	})
	return meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionBelievable)
}

// throttling returns the finding of that check.
func throttling(t *testing.T, result v1alpha1.BenchmarkResult) (found v1alpha1.BenchmarkFinding) {
	t.Helper()
	for _, f := range result.Findings {
		t.Logf("%s: %s: %s: %s", f.Check, f.Verdict, f.Reason, f.Message)
		if f.Check == validity.CheckThrottling {
			found = f
		}
	}
	return found
}

func recordOf(t *testing.T, b *v1alpha1.PgBenchmark) record.Record {
	t.Helper()
	cm := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: b.Namespace, Name: b.Status.Run.Record}, cm); err != nil {
		t.Fatal("the record:", err)
	}
	kept, err := record.Decode(cm.BinaryData)
	if err != nil || len(kept.Runs) == 0 {
		t.Fatalf("%+v %v", kept, err)
	}
	return kept
}
