package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// readyCluster is a PgStorageCluster whose database is simulated to be healthy.
func readyCluster(t *testing.T, c client.Client, name string) *v1alpha1.PgStorageCluster {
	t.Helper()
	ns := namespace(t, c)
	storage(t, c, name)
	cr := cluster(ns, name, name)
	create(t, c, cr)
	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	return cr
}

func benchmark(cr *v1alpha1.PgStorageCluster, name string) *v1alpha1.PgBenchmark {
	return &v1alpha1.PgBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: cr.Namespace, Name: name},
		Spec:       v1alpha1.PgBenchmarkSpec{Cluster: cr.Name},
	}
}

// hasPhase waits for a benchmark's phase while CloudNativePG is simulated.
func hasPhase(t *testing.T, c client.Client, b *v1alpha1.PgBenchmark, phase string) {
	t.Helper()
	simulate := simulatedApplied(t, c, b.Namespace)
	eventually(t, "phase "+phase, func(ctx context.Context) error {
		if err := simulate(ctx); err != nil {
			return err
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		if b.Status.Phase != phase {
			return fmt.Errorf("phase %s: %+v", b.Status.Phase, b.Status.Conditions)
		}
		return nil
	})
}

// startedJob waits for a benchmark's Job while CloudNativePG is simulated.
func startedJob(t *testing.T, c client.Client, b *v1alpha1.PgBenchmark) *batchv1.Job {
	t.Helper()
	job := &batchv1.Job{}
	simulate := simulatedApplied(t, c, b.Namespace)
	eventually(t, "the Job of "+b.Name, func(ctx context.Context) error {
		if err := simulate(ctx); err != nil {
			return err
		}
		return c.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: naming.BenchmarkObject(b.Name, string(b.UID))}, job)
	})
	return job
}

// simulatedReport writes status.run as the runner does.
func simulatedReport(t *testing.T, c client.Client, b *v1alpha1.PgBenchmark, run map[string]any) {
	t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"run": run}}}
	u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("PgBenchmark"))
	u.SetNamespace(b.Namespace)
	u.SetName(b.Name)
	if err := c.Status().Apply(t.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(naming.BenchFieldOwner)); err != nil {
		t.Fatal(err)
	}
}

func succeeded() map[string]any {
	return map[string]any{
		"phase": "Succeeded", "percent": int64(100), "message": "1 run",
		"results":   []any{map[string]any{"clients": int64(1), "tps": "123.45", "failed": int64(0), "retried": int64(0)}},
		"integrity": []any{map[string]any{"name": "Checksums", "result": "Passed"}},
	}
}

// allGone waits until nothing of a benchmark is left. The API server of this
// suite has no garbage collector, so everything must have been deleted.
func allGone(t *testing.T, c client.Client, b *v1alpha1.PgBenchmark) {
	t.Helper()
	key := client.ObjectKey{Namespace: b.Namespace, Name: naming.BenchmarkObject(b.Name, string(b.UID))}
	checker := client.ObjectKey{Namespace: b.Namespace, Name: naming.BenchmarkChecker(b.Name, string(b.UID))}
	for _, obj := range []client.Object{&cnpgv1.Database{}, &cnpgv1.DatabaseRole{}, &corev1.Secret{}, &corev1.ConfigMap{}, &corev1.ServiceAccount{}, &rbacv1.Role{}, &rbacv1.RoleBinding{}} {
		gone(t, c, key, obj)
	}
	gone(t, c, checker, &cnpgv1.DatabaseRole{})
	gone(t, c, checker, &corev1.Secret{})
	job := &batchv1.Job{}
	eventually(t, "the Job to be gone or going", func(ctx context.Context) error {
		if err := c.Get(ctx, key, job); client.IgnoreNotFound(err) != nil || err == nil && job.DeletionTimestamp == nil {
			return errors.Join(errors.New("it is there"), err)
		}
		return nil
	})
}

func TestBenchmarkRunsAndCleansUp(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	cr := readyCluster(t, c, "measured")
	b := benchmark(cr, "first")
	create(t, c, b)
	job := startedJob(t, c, b)
	pod := job.Spec.Template.Spec
	if pod.Containers[0].Image != cr.Status.Database.Image {
		t.Errorf("pgbench runs in %s, not in the server's own image %s", pod.Containers[0].Image, cr.Status.Database.Image)
	}
	database := naming.BenchmarkDatabase(string(b.UID))
	env := map[string]corev1.EnvVar{}
	for _, e := range pod.Containers[0].Env {
		env[e.Name] = e
		if strings.Contains(e.Name, "PASSWORD") && e.Value != "" {
			t.Errorf("%s is in clear text", e.Name)
		}
	}
	if got := env["PGDATABASE"].Value; got != database {
		t.Errorf("the benchmark runs in database %q, want %s", got, database)
	}
	if from := env["PGPASSWORD"].ValueFrom; from == nil || from.SecretKeyRef == nil {
		t.Errorf("the password is from %+v, want a Secret", from)
	}
	hasPhase(t, c, b, "Preparing")
	simulatedReport(t, c, b, map[string]any{"phase": "Running", "percent": int64(40), "message": "run 1 of 2"})
	hasPhase(t, c, b, "Running")

	// Another one of the same cluster waits for its turn.
	second := benchmark(cr, "second")
	create(t, c, second)
	eventually(t, "the second to wait", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(second), second); err != nil {
			return err
		}
		for _, cond := range second.Status.Conditions {
			if cond.Type == v1alpha1.ConditionTargetReady && cond.Reason == v1alpha1.ReasonWaitingForTurn {
				return nil
			}
		}
		return fmt.Errorf("conditions %+v", second.Status.Conditions)
	})

	simulatedReport(t, c, b, succeeded())
	hasPhase(t, c, b, "Succeeded")
	if b.Status.BestTPS != "123.45" || b.Status.Durability != v1alpha1.DurabilityLocal || b.Status.CompletionTime == nil {
		t.Errorf("status %+v", b.Status)
	}
	allGone(t, c, b)
	startedJob(t, c, second)
}

func TestFailedBenchmarkSaysWhy(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	cr := readyCluster(t, c, "failing")
	b := benchmark(cr, "late")
	create(t, c, b)
	job := startedJob(t, c, b)
	before := job.DeepCopy()
	now := metav1.Now()
	job.Status.StartTime = &now
	job.Status.Conditions = []batchv1.JobCondition{
		{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, Reason: "DeadlineExceeded", Message: "too long", LastTransitionTime: now},
		{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "DeadlineExceeded", Message: "too long", LastTransitionTime: now},
	}
	if err := c.Status().Patch(t.Context(), job, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	hasPhase(t, c, b, "Failed")
	allGone(t, c, b)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(b), b); err != nil {
		t.Fatal(err)
	}
	if complete := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionComplete); complete == nil || !strings.Contains(complete.Message, "DeadlineExceeded") {
		t.Errorf("cleaning up lost the cause: %+v", complete)
	}
}

func TestBenchmarkWithoutAClusterStaysPending(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	b := benchmark(cluster(ns, "nowhere", "x"), "lost")
	create(t, c, b)
	hasPhase(t, c, b, "Pending")
	if ready := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionReady); ready == nil || ready.Reason != v1alpha1.ReasonClusterNotFound {
		t.Errorf("Ready is %+v", ready)
	}
	if err := c.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	gone(t, c, client.ObjectKeyFromObject(b), &v1alpha1.PgBenchmark{})
}

// What is kept of a benchmark is its data and results, and never a superuser.
func TestKeptBenchmarkKeepsNoSuperuser(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	cr := readyCluster(t, c, "keeping")
	b := benchmark(cr, "kept")
	b.Spec.Pgbench.Cleanup = v1alpha1.CleanupNever
	create(t, c, b)
	startedJob(t, c, b)
	simulatedReport(t, c, b, succeeded())
	hasPhase(t, c, b, "Succeeded")
	eventually(t, "what is kept", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		cond := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionCleanedUp)
		if cond == nil || cond.Status != metav1.ConditionTrue || cond.Reason != v1alpha1.ReasonKept {
			return fmt.Errorf("%+v", cond)
		}
		return nil
	})
	checker := client.ObjectKey{Namespace: b.Namespace, Name: naming.BenchmarkChecker(b.Name, string(b.UID))}
	gone(t, c, checker, &cnpgv1.DatabaseRole{})
	gone(t, c, checker, &corev1.Secret{})
	key := client.ObjectKey{Namespace: b.Namespace, Name: naming.BenchmarkObject(b.Name, string(b.UID))}
	for _, obj := range []client.Object{&cnpgv1.Database{}, &cnpgv1.DatabaseRole{}, &corev1.Secret{}, &batchv1.Job{}} {
		if err := c.Get(t.Context(), key, obj); err != nil {
			t.Errorf("%T: %v", obj, err)
		}
	}
	if err := c.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	allGone(t, c, b)
}

// The names of a benchmark's Secrets follow from its UID. A tenant who creates one first cannot
// choose the password.
func TestSecretsThatExistAlreadyAreReplaced(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "waiting")
	cr := cluster(ns, "waiting", "waiting")
	create(t, c, cr)
	b := benchmark(cr, "early")
	create(t, c, b)
	uid, known := string(b.UID), []byte("known")
	for _, name := range []string{naming.BenchmarkObject(b.Name, uid), naming.BenchmarkChecker(b.Name, uid)} {
		create(t, c, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: name, Labels: naming.BenchmarkLabels(b.Name)},
			Type:       corev1.SecretTypeBasicAuth,
			Data:       map[string][]byte{corev1.BasicAuthUsernameKey: []byte("x"), corev1.BasicAuthPasswordKey: known},
		})
	}
	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	startedJob(t, c, b)
	for _, name := range []string{naming.BenchmarkObject(b.Name, uid), naming.BenchmarkChecker(b.Name, uid)} {
		secret := get(t, c, client.ObjectKey{Namespace: b.Namespace, Name: name}, &corev1.Secret{})
		if bytes.Equal(secret.Data[corev1.BasicAuthPasswordKey], known) || !ptr.Deref(secret.Immutable, false) {
			t.Errorf("Secret %s has the password of whoever created it first, or can be changed", name)
		}
	}
}

// A ConfigMap that cannot exist is reported as one that does not.
func TestNamesThatNothingCanHaveAreReported(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	cr := readyCluster(t, c, "named")
	for name, configMap := range map[string]string{"slash": "Scripts/../x", "dots": ".."} {
		b := benchmark(cr, name)
		b.Spec.Pgbench.CustomScripts = []v1alpha1.CustomScript{{ConfigMap: configMap, Key: "a.sql"}}
		create(t, c, b)
		eventually(t, name+" to be reported", func(ctx context.Context) error {
			if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
				return err
			}
			if cond := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionReady); cond == nil || cond.Reason != v1alpha1.ReasonScriptNotFound {
				return fmt.Errorf("%+v", cond)
			}
			return nil
		})
	}
}

// A script that would run programs gets neither role nor Job.
func TestScriptThatRunsProgramsIsRefused(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	cr := readyCluster(t, c, "attacked")
	create(t, c, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: cr.Namespace, Name: "scripts"}, Data: map[string]string{"attack.sql": "SELECT 1;\n\\SetShell x env\n"}})
	b := benchmark(cr, "attack")
	b.Spec.Pgbench.CustomScripts = []v1alpha1.CustomScript{{ConfigMap: "scripts", Key: "attack.sql"}}
	create(t, c, b)
	hasPhase(t, c, b, "Failed")
	cond := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionComplete)
	if cond == nil || cond.Reason != v1alpha1.ReasonInvalidSpec || !strings.Contains(cond.Message, `ConfigMap scripts key attack.sql line 2: \SetShell`) {
		t.Errorf("%+v", cond)
	}
	allGone(t, c, b)
}

// Who may create a PgBenchmark and not change its cluster loads no database, and keeps
// no other benchmark waiting.
func TestBenchmarkWaitsForConsent(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	cr := readyCluster(t, c, "consenting")
	before := cr.DeepCopy()
	cr.Spec.BenchmarkPolicy = v1alpha1.BenchmarkOwn
	if err := c.Patch(t.Context(), cr, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	b := benchmark(cr, "uninvited")
	yes := true
	b.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PgStorageCluster", Name: cr.Name, UID: cr.UID, Controller: &yes}}
	create(t, c, b)
	eventually(t, "the benchmark to wait for consent", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		cond := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionReady)
		if cond == nil || cond.Status != metav1.ConditionFalse || cond.Reason != v1alpha1.ReasonConsentRequired || !strings.Contains(cond.Message, "patch pgsc "+cr.Name) {
			return fmt.Errorf("%+v", cond)
		}
		return nil
	})
	allGone(t, c, b)

	before = cr.DeepCopy()
	cr.Spec.Benchmark = &v1alpha1.InlineBenchmark{PgbenchSpec: v1alpha1.PgbenchSpec{Scale: 3, Duration: "10s"}}
	if err := c.Patch(t.Context(), cr, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	own := ownBenchmark(t, c, cr, "")
	startedJob(t, c, own)
	simulatedReport(t, c, own, succeeded())
	hasPhase(t, c, own, "Succeeded")

	before = cr.DeepCopy()
	cr.Spec.BenchmarkPolicy = v1alpha1.BenchmarkAny
	if err := c.Patch(t.Context(), cr, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	startedJob(t, c, b)
}

// The tier of a cluster can change while a benchmark waits, and the Job measures the new one.
func TestTierFollowsTheClusterWhileABenchmarkWaits(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	cr := cluster(namespace(t, c), "shop", "absent")
	create(t, c, cr)
	b := benchmark(cr, "waits")
	create(t, c, b)
	reports := func(want v1alpha1.DurabilityTier) {
		t.Helper()
		eventually(t, "the tier "+string(want), func(ctx context.Context) error {
			if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
				return err
			}
			if b.Status.Durability != want {
				return fmt.Errorf("%+v", b.Status)
			}
			return nil
		})
	}
	reports(v1alpha1.DurabilityLocal)
	changed(t, c, cr, func() { cr.Spec.Durability = v1alpha1.DurabilityAsync })
	reports(v1alpha1.DurabilityAsync)
}

// Tables that cannot fit get neither role nor database, and a run that was stopped for
// space leaves none, though everything is to be kept.
func TestBenchmarkLeavesFreeSpace(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	cr := readyCluster(t, c, "small")
	large := benchmark(cr, "large")
	large.Spec.Pgbench.Scale = 100000
	create(t, c, large)
	hasPhase(t, c, large, "Failed")
	cond := meta.FindStatusCondition(large.Status.Conditions, v1alpha1.ConditionComplete)
	if cond == nil || cond.Reason != v1alpha1.ReasonNotEnoughSpace || !strings.HasPrefix(cond.Message, "spec.pgbench.scale: 100000 ") {
		t.Errorf("%+v", cond)
	}
	allGone(t, c, large)

	b := benchmark(cr, "endless")
	b.Spec.Pgbench.Cleanup = v1alpha1.CleanupNever
	create(t, c, b)
	startedJob(t, c, b)
	instructions := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: b.Namespace, Name: naming.BenchmarkObject(b.Name, string(b.UID))}, instructions); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(instructions.Data["spec.json"], `"dataBytes": 1073741824`) {
		t.Errorf("the runner does not know the volume: %s", instructions.Data["spec.json"])
	}
	simulatedReport(t, c, b, map[string]any{"phase": "Failed", "percent": int64(40), "message": "the volume is nearly full", "reason": v1alpha1.ReasonFreeSpaceLow})
	hasPhase(t, c, b, "Failed")
	allGone(t, c, b)
}

// A cluster that people use keeps its caches, and gets neither role nor database.
func TestColdCacheOfAGivenClusterIsRefused(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	cr := readyCluster(t, c, "warm")
	b := benchmark(cr, "cold")
	b.Spec.Pgbench.ColdCache, b.Spec.Pgbench.WarmUp = true, "0s"
	create(t, c, b)
	hasPhase(t, c, b, "Failed")
	cond := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionComplete)
	if cond == nil || cond.Reason != v1alpha1.ReasonInvalidSpec || !strings.Contains(cond.Message, "spec.pgbench.coldCache") {
		t.Errorf("%+v", cond)
	}
	allGone(t, c, b)
}

func TestInlineBenchmarkFollowsItsCluster(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	cr := readyCluster(t, c, "inline")
	before := cr.DeepCopy()
	cr.Spec.Benchmark = &v1alpha1.InlineBenchmark{PgbenchSpec: v1alpha1.PgbenchSpec{Scale: 3, Duration: "10s"}}
	if err := c.Patch(t.Context(), cr, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	first := ownBenchmark(t, c, cr, "")
	if first.Spec.Pgbench.Scale != 3 || first.Spec.Pgbench.Duration != "10s" {
		t.Errorf("spec %+v", first.Spec)
	}
	startedJob(t, c, first)
	simulatedReport(t, c, first, succeeded())
	hasPhase(t, c, first, "Succeeded")
	hasCondition(t, c, cr, v1alpha1.ConditionBenchmarkComplete, metav1.ConditionTrue, v1alpha1.ReasonReady)
	if cr.Status.Benchmark == nil || cr.Status.Benchmark.BestTPS != "123.45" {
		t.Errorf("status.benchmark %+v", cr.Status.Benchmark)
	}

	// Another spec is another run; the old one goes.
	before = cr.DeepCopy()
	cr.Spec.Benchmark.Scale = 4
	if err := c.Patch(t.Context(), cr, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	ownBenchmark(t, c, cr, first.Name)
	gone(t, c, client.ObjectKeyFromObject(first), &v1alpha1.PgBenchmark{})
}

// ownBenchmark waits for the inline benchmark of a cluster that is not named so.
func ownBenchmark(t *testing.T, c client.Client, cr *v1alpha1.PgStorageCluster, not string) *v1alpha1.PgBenchmark {
	t.Helper()
	var found *v1alpha1.PgBenchmark
	eventually(t, "the inline benchmark", func(ctx context.Context) error {
		list := &v1alpha1.PgBenchmarkList{}
		if err := c.List(ctx, list, client.InNamespace(cr.Namespace), client.MatchingLabels(naming.Labels(cr.Name))); err != nil {
			return err
		}
		for i := range list.Items {
			if list.Items[i].Name != not {
				found = &list.Items[i]
				return nil
			}
		}
		return errors.New("none yet")
	})
	return found
}
