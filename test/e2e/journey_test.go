//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/live"
)

// TestJourney follows one database through its life, step by step as a user would.
func TestJourney(t *testing.T) {
	profile(t)
	ns := namespace(t)
	shop := cluster(ns, "shop")
	step := live.InTurnOn(t, shop)
	step("apply to Ready", applyToReady)
	step("a row through the -rw Service", rowThroughService)
	step("every connection of 512Mi at once", allConnections)
	step("durability is read back", durabilityIsVerified)
	step("benchmark to a result", benchmarkToResult)
	step("a hostile script gains nothing", hostileScript)
	step("layers of the storage", layersOfTheStorage)
	step("a throttled runner is not believed", throttledRunner)
	step("a declared CPU limit is a caution", declaredLimit)
	step("a schedule begins a benchmark", scheduledBenchmark)
	step("the plugin beside it", pluginOnDatabase)
	step("one instance to three, Local to Quorum", scaleOut)
	step("a parameter changed and rolled out", changeParameters)
	step("a refused parameter touches nothing", refuseParameter)
	step("primary killed under load", killPrimary)
	step("helm upgrade leaves Postgres alone", upgradeOperator)
}

// overhead is how much longer than CloudNativePG alone apply to Ready may take.
const overhead = 10 * time.Second

// applyToReady compares with CloudNativePG alone, which takes a machine without other load: not
// under -short.
func applyToReady(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	if testing.Short() {
		create(t, shop)
		isReady(t, shop)
		return
	}
	raw := &cnpgv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "raw"},
		Spec: cnpgv1.ClusterSpec{
			Instances: 1, ImageName: postgres + ":17",
			StorageConfiguration: cnpgv1.StorageConfiguration{Size: "1Gi"},
			Resources:            corev1.ResourceRequirements{Requests: amounts("100m", "512Mi")},
		},
	}
	alone := timedRaw(t, raw.DeepCopy())
	ours := timed(t, shop, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(shop), shop); err != nil {
			return err
		}
		r := meta.FindStatusCondition(shop.Status.Conditions, v1alpha1.ConditionReady)
		if r == nil || r.Status != metav1.ConditionTrue {
			return fmt.Errorf("Ready: %+v", r)
		}
		return nil
	})
	noise := time.Duration(0)
	if ours > alone+overhead {
		// The machine may have become busier meanwhile: then CloudNativePG takes longer now too.
		// What two runs of the same differ by, no comparison can resolve.
		raw.Name = "raw-again"
		again := timedRaw(t, raw)
		alone, noise = max(alone, again), (alone - again).Abs()
	}
	t.Logf("apply to Ready: CloudNativePG alone %s, twice %s apart, pgstorage %s", alone, noise, ours)
	if ours > alone+noise+overhead {
		t.Errorf("apply to Ready took %s, more than %s above CloudNativePG's own %s, whose runs differ by %s", ours, overhead, alone, noise)
	}
	isReady(t, shop)
}

// isReady waits until a database is, and checks that its status is whole.
func isReady(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	t.Helper()
	ready(t, shop)
	if shop.Status.Endpoints == nil || shop.Status.Secrets == nil || shop.Status.Durability == nil || len(shop.Status.Parameters) == 0 {
		t.Errorf("status is not whole: %+v", shop.Status)
	}
}

// timedRaw returns how long a cluster of CloudNativePG alone takes from apply to Ready, and
// deletes it.
func timedRaw(t *testing.T, raw *cnpgv1.Cluster) time.Duration {
	t.Helper()
	took := timed(t, raw, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(raw), raw); err != nil {
			return err
		}
		if !meta.IsStatusConditionTrue(raw.Status.Conditions, string(cnpgv1.ConditionClusterReady)) {
			return fmt.Errorf("CloudNativePG: %s", raw.Status.Phase)
		}
		return nil
	})
	if err := c.Delete(t.Context(), raw); err != nil {
		t.Fatal(err)
	}
	return took
}

func timed(t *testing.T, obj client.Object, done func(context.Context) error) time.Duration {
	t.Helper()
	start := time.Now()
	create(t, obj)
	eventually(t, obj.GetName()+" to be ready", done)
	return time.Since(start).Round(100 * time.Millisecond)
}

func rowThroughService(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	out := client1(t, shop, "writer", "psql -XAtq -c \"CREATE TABLE kept (id int PRIMARY KEY); INSERT INTO kept VALUES (42)\" && psql -XAtq -c 'SELECT id FROM kept'")
	if out != "42" {
		t.Errorf("read %q", out)
	}
}

func benchmarkToResult(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	patch(t, shop, func(s *v1alpha1.PgStorageClusterSpec) {
		s.Benchmark = &v1alpha1.InlineBenchmark{PgbenchSpec: v1alpha1.PgbenchSpec{Scale: 2, Clients: []int32{1, 2}, Duration: "6s", WarmUp: "2s", Repeats: 2}}
	})
	b := &v1alpha1.PgBenchmark{}
	seen := map[int32]bool{}
	eventually(t, "the benchmark's result", func(ctx context.Context) error {
		list := &v1alpha1.PgBenchmarkList{}
		if err := c.List(ctx, list, client.InNamespace(shop.Namespace)); err != nil {
			return err
		}
		if len(list.Items) != 1 {
			return fmt.Errorf("%d PgBenchmarks", len(list.Items))
		}
		*b = list.Items[0]
		if b.Status.Run != nil {
			seen[b.Status.Run.Percent] = true
		}
		if b.Status.Phase != "Succeeded" {
			return fmt.Errorf("phase %s", b.Status.Phase)
		}
		return nil
	})
	if len(seen) < 4 {
		t.Errorf("progress was seen at %v percent only", seen)
	}
	tps, err := strconv.ParseFloat(b.Status.BestTPS, 64)
	if err != nil || tps <= 0 || b.Status.Durability != v1alpha1.DurabilityLocal {
		t.Errorf("best TPS %q, durability %s", b.Status.BestTPS, b.Status.Durability)
	}
	if n := len(b.Status.Run.Results); n != 2 {
		t.Errorf("%d results, want one of each number of clients: %+v", n, b.Status.Run.Results)
	}
	for _, r := range b.Status.Run.Results {
		if r.LatencyP50 == "" || r.LatencyP95 == "" || r.LatencyP99 == "" || len(r.Statements) == 0 || len(r.TPSOfRuns) != 2 {
			t.Errorf("result is not whole: %+v", r)
		}
		t.Logf("%d clients: %s TPS, p99 %s ms; passed %v", r.Clients, r.TPS, r.LatencyP99, r.Passed)
		for _, f := range r.Findings {
			t.Logf("%s: %s: %s: %s", f.Check, f.Verdict, f.Reason, f.Message)
			// A superuser looked at the server's pod: on kind all of it is there.
			if f.Verdict == "NotRun" && f.Check != "Flush" {
				t.Errorf("%s was not run: %s", f.Check, f.Message)
			}
		}
	}
	for _, check := range integrity(t, b) {
		if check.Result != "Passed" {
			t.Errorf("integrity: %+v", check)
		}
	}
	eventually(t, "the benchmark's traces to be gone", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		if !meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionCleanedUp) {
			return fmt.Errorf("conditions %+v", b.Status.Conditions)
		}
		return nil
	})
	left := psql(t, shop.Namespace, shop.Status.Database.Primary, "SELECT datname FROM pg_database WHERE datname LIKE 'pgstorage%' UNION SELECT rolname FROM pg_roles WHERE rolname LIKE 'pgstorage%'")
	if left != "" {
		t.Errorf("left in Postgres: %s", left)
	}
	// The checks passed, so the observer let the owner call amcheck; it may not have left
	// anything in the database that it connects to.
	if got := psql(t, shop.Namespace, shop.Status.Database.Primary, "SELECT extname FROM pg_extension WHERE extname IN ('amcheck', 'pg_buffercache')"); got != "" {
		t.Errorf("left in database postgres: %s", got)
	}
	secret := &corev1.Secret{}
	err = c.Get(t.Context(), client.ObjectKey{Namespace: b.Namespace, Name: naming.BenchmarkChecker(b.Name, string(b.UID))}, secret)
	if client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the superuser's Secret is left (%v)", err)
	}
}

func scaleOut(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	three := int32(3)
	patch(t, shop, func(s *v1alpha1.PgStorageClusterSpec) {
		s.Instances, s.Durability, s.Benchmark = &three, v1alpha1.DurabilityQuorum, nil
	})
	ready(t, shop)
	if n := len(podUIDs(t, shop)); n != 3 {
		t.Errorf("%d pods", n)
	}
	eventually(t, "a synchronous standby", func(context.Context) error {
		got := psql(t, shop.Namespace, shop.Status.Database.Primary, "SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('quorum', 'sync')")
		if n, err := strconv.Atoi(got); err != nil || n < 1 {
			return fmt.Errorf("%s standbys are synchronous", got)
		}
		return nil
	})
}

func changeParameters(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	patch(t, shop, func(s *v1alpha1.PgStorageClusterSpec) {
		s.Postgres.Parameters = map[string]string{"work_mem": "7MB", "max_connections": "63"}
	})
	ready(t, shop)
	for pod := range podUIDs(t, shop) {
		if got := psql(t, shop.Namespace, pod, "SELECT current_setting('work_mem') || ' ' || current_setting('max_connections')"); got != "7MB 63" {
			t.Errorf("%s has %s", pod, got)
		}
	}
}

func refuseParameter(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	before := podUIDs(t, shop)
	patch(t, shop, func(s *v1alpha1.PgStorageClusterSpec) {
		s.Postgres.Parameters["work_mem"] = "9MB"
		s.Postgres.Parameters["no_such_parameter"] = "1"
	})
	eventually(t, "the refusal", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(shop), shop); err != nil {
			return err
		}
		s := meta.FindStatusCondition(shop.Status.Conditions, v1alpha1.ConditionStalled)
		if s == nil || s.Reason != v1alpha1.ReasonInvalidParameters || !strings.Contains(s.Message, "no_such_parameter") {
			return fmt.Errorf("Stalled: %+v", s)
		}
		return nil
	})
	if got := psql(t, shop.Namespace, shop.Status.Database.Primary, "SHOW work_mem"); got != "7MB" {
		t.Errorf("a refused spec was half applied: work_mem %s", got)
	}
	if diff := cmp.Diff(before, podUIDs(t, shop)); diff != "" {
		t.Errorf("pods changed: %s", diff)
	}
	patch(t, shop, func(s *v1alpha1.PgStorageClusterSpec) {
		s.Postgres.Parameters = map[string]string{"work_mem": "7MB", "max_connections": "63"}
	})
	ready(t, shop)
}

func upgradeOperator(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	before := podUIDs(t, shop)
	if err := helm("podAnnotations.upgraded=yes", "logLevel=debug"); err != nil {
		t.Fatal(err)
	}
	ready(t, shop)
	// A change that the new operator makes shows that it works.
	patch(t, shop, func(s *v1alpha1.PgStorageClusterSpec) { s.Postgres.Parameters["work_mem"] = "8MB" })
	ready(t, shop)
	if diff := cmp.Diff(before, podUIDs(t, shop)); diff != "" {
		t.Errorf("the operator's upgrade touched Postgres: %s", diff)
	}
}
