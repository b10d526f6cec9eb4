package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// admitsNone creates a quota by which a namespace admits no new object of these resources,
// and waits until the API server enforces it.
func admitsNone(t *testing.T, c client.Client, ns string, resources ...string) *corev1.ResourceQuota {
	t.Helper()
	none := corev1.ResourceList{}
	for _, name := range append(resources, "limitranges") {
		none[corev1.ResourceName("count/"+name)] = resource.MustParse("0")
	}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "none"}, Spec: corev1.ResourceQuotaSpec{Hard: none}}
	create(t, c, quota)
	quota.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none}
	if err := c.Status().Update(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the quota", func(ctx context.Context) error {
		err := c.Create(ctx, &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: ns, GenerateName: "probe-"}})
		if apierrors.IsForbidden(err) {
			return nil
		}
		return errors.Join(errors.New("the namespace admits a LimitRange"), err)
	})
	return quota
}

// The conditions of a read pool and of a benchmark report that the API server rejects them.
// The database stays what it is, and only the read pool counts for Ready.
func TestRejectedReadPoolAndBenchmarkLeaveTheDatabaseAsItIs(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "sides-rejected")
	cr := cluster(ns, "shop", "sides-rejected")
	create(t, c, cr)
	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	quota := admitsNone(t, c, ns, "pgstorageclusters.pgstorage.dev", "pgbenchmarks.pgstorage.dev")

	changed(t, c, cr, func() {
		cr.Spec.ReadPools = []v1alpha1.ReadPool{{Name: "reports", Workload: v1alpha1.WorkloadAnalytics}}
		cr.Spec.Benchmark = &v1alpha1.InlineBenchmark{}
	})
	for _, kind := range []string{v1alpha1.ConditionReadPoolsReady, v1alpha1.ConditionBenchmarkComplete} {
		if got := hasCondition(t, c, cr, kind, metav1.ConditionFalse, v1alpha1.ReasonRejected); !strings.Contains(got.Message, "exceeded quota") {
			t.Errorf("%s: %s", kind, got.Message)
		}
	}
	hasCondition(t, c, cr, v1alpha1.ConditionDatabaseReady, metav1.ConditionTrue, v1alpha1.ReasonHealthy)
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonRejected)

	changed(t, c, cr, func() { cr.Spec.ReadPools = nil })
	hasCondition(t, c, cr, v1alpha1.ConditionBenchmarkComplete, metav1.ConditionFalse, v1alpha1.ReasonRejected)
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)

	if err := c.Delete(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	changed(t, c, cr, func() { cr.Annotations = map[string]string{"example.com/note": "wake up"} })
	eventually(t, "the benchmark", func(ctx context.Context) error {
		list := &v1alpha1.PgBenchmarkList{}
		if err := c.List(ctx, list, client.InNamespace(ns)); err != nil {
			return err
		}
		if len(list.Items) != 1 {
			return fmt.Errorf("%d benchmarks", len(list.Items))
		}
		return nil
	})
}

// The operator does not know what the other sites do while the API server rejects their
// watcher. The site is in its role all the same.
func TestRejectedWatcherOfSitesLeavesTheDatabaseAsItIs(t *testing.T) {
	c := apiserver.Client(t, config)
	consenting(t, c, "sites-rejected")
	manager.Start(t, config)
	ns := namespace(t, c)
	admitsNone(t, c, ns, "statefulsets.apps")
	cr := south(ns, "sites-rejected")
	create(t, c, cr)
	simulatedSite(t, c, client.ObjectKeyFromObject(cr), false)
	hasCondition(t, c, cr, v1alpha1.ConditionSiteInRole, metav1.ConditionTrue, v1alpha1.ReasonFollowing)
	if got := hasCondition(t, c, cr, v1alpha1.ConditionSitesAgree, metav1.ConditionUnknown, v1alpha1.ReasonRejected); !strings.Contains(got.Message, "exceeded quota") {
		t.Errorf("SitesAgree: %s", got.Message)
	}
	hasCondition(t, c, cr, v1alpha1.ConditionDatabaseReady, metav1.ConditionTrue, v1alpha1.ReasonHealthy)
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
}
