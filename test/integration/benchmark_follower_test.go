package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// targetReady waits for a reason why a benchmark does not start, with a text in the message.
func targetReady(t *testing.T, c client.Client, b *v1alpha1.PgBenchmark, reason, text string) {
	t.Helper()
	eventually(t, b.Name+" to have the reason "+reason, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		cond := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionTargetReady)
		if cond == nil || cond.Reason != reason || !strings.Contains(cond.Message, text) {
			return fmt.Errorf("%+v", cond)
		}
		return nil
	})
}

// A benchmark of a read pool needs the consent of the pool and of its cluster, on which its
// database is. Benchmarks of the cluster wait for it.
func TestBenchmarkOfReadPool(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	cr, pool := pooled(t, c, "pool-measured")
	// The cluster is Ready with its pools.
	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	simulatedHealthy(t, c, client.ObjectKeyFromObject(pool))
	hasCondition(t, c, pool, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	b, refused := benchmark(pool, "reads"), benchmark(pool, "loads")
	b.Spec.Pgbench.Script = v1alpha1.ScriptSelectOnly
	create(t, c, b)
	create(t, c, refused)
	targetReady(t, c, b, v1alpha1.ReasonConsentRequired, "patch pgsc shop-reports ")
	// A benchmark that has ended keeps the condition Complete, and not TargetReady.
	hasPhase(t, c, refused, "Failed")
	complete := meta.FindStatusCondition(refused.Status.Conditions, v1alpha1.ConditionComplete)
	if complete == nil || complete.Reason != v1alpha1.ReasonInvalidSpec || !strings.Contains(complete.Message, "spec.pgbench.script: PgStorageCluster shop-reports follows shop ") {
		t.Errorf("the refused benchmark has Complete %+v", complete)
	}

	changed(t, c, cr, func() { cr.Spec.BenchmarkPolicy = v1alpha1.BenchmarkOwn })
	changed(t, c, pool, func() { pool.Spec.BenchmarkPolicy = v1alpha1.BenchmarkAny })
	targetReady(t, c, b, v1alpha1.ReasonConsentRequired, "patch pgsc shop ")
	changed(t, c, cr, func() { cr.Spec.BenchmarkPolicy = v1alpha1.BenchmarkAny })
	job := startedJob(t, c, b)

	key := client.ObjectKey{Namespace: b.Namespace, Name: naming.BenchmarkObject(b.Name, string(b.UID))}
	checker := client.ObjectKey{Namespace: b.Namespace, Name: naming.BenchmarkChecker(b.Name, string(b.UID))}
	if got := get(t, c, key, &cnpgv1.Database{}).Spec.ClusterRef.Name; got != cr.Name {
		t.Errorf("the database is on %s", got)
	}
	for _, k := range []client.ObjectKey{key, checker} {
		if got := get(t, c, k, &cnpgv1.DatabaseRole{}).Spec.ClusterRef.Name; got != cr.Name {
			t.Errorf("role %s is on %s", k.Name, got)
		}
	}
	env := map[string]string{}
	for _, e := range job.Spec.Template.Spec.Containers[0].Env {
		env[e.Name] = e.Value
	}
	if env["PGHOST"] != "shop-reports-rw" || env[spec.EnvSourceHost] != "shop-rw" {
		t.Errorf("%v", env)
	}

	waits := benchmark(cr, "writes")
	create(t, c, waits)
	targetReady(t, c, waits, v1alpha1.ReasonWaitingForTurn, b.Name)
	simulatedReport(t, c, b, succeeded())
	hasPhase(t, c, b, "Succeeded")
	if b.Status.Durability != v1alpha1.DurabilityReadOnly {
		t.Errorf("the tier is %s", b.Status.Durability)
	}
	startedJob(t, c, waits)
}
