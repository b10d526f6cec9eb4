package integration

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/long"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// matrix is durability Local and Async, twice each, on clusters of their own.
func matrix(namespace, name, profile string) *v1alpha1.PgBenchmark {
	shape := cluster(namespace, name, profile).Spec
	return &v1alpha1.PgBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.PgBenchmarkSpec{
			Template: &v1alpha1.ClusterTemplate{Profile: shape.Profile, Postgres: shape.Postgres, Storage: shape.Storage, Resources: shape.Resources},
			Matrix: &v1alpha1.BenchmarkMatrix{
				Durability: []v1alpha1.DurabilityTier{v1alpha1.DurabilityLocal, v1alpha1.DurabilityAsync}, Repeats: 2, Rest: "0s",
			},
			Pgbench: v1alpha1.PgbenchSpec{Clients: []int32{1}, Duration: "1s", WarmUp: "0s", Integrity: v1alpha1.IntegrityBasic},
		},
	}
}

// bench is what CloudNativePG and the runners do for a matrix, and what was seen of
// it: each run has a figure of its own.
type bench struct {
	c         client.Client
	b         *v1alpha1.PgBenchmark
	namespace string
	// tps by UID of the run's PgBenchmark, and the UIDs by its name.
	tps  map[string]string
	uids map[string]map[string]bool
	// failing is the durability of runs that fail; most is the most runs that were
	// under way at once.
	failing v1alpha1.DurabilityTier
	most    int
	// from which transactions per second count up, run by run.
	from int
}

func newBench(c client.Client, b *v1alpha1.PgBenchmark) *bench {
	return &bench{c: c, b: b, namespace: b.Namespace, tps: map[string]string{}, uids: map[string]map[string]bool{}, from: 1000}
}

// simulate one round of all that is not the operator's.
func (s *bench) simulate(ctx context.Context, t *testing.T) error {
	t.Helper()
	clusters := &cnpgv1.ClusterList{}
	if err := s.c.List(ctx, clusters, client.InNamespace(s.namespace)); err != nil {
		return err
	}
	for i := range clusters.Items {
		if pg := &clusters.Items[i]; pg.Status.Phase != cnpgv1.PhaseHealthy {
			simulatedHealthy(t, s.c, client.ObjectKeyFromObject(pg))
		}
	}
	if err := simulatedApplied(t, s.c, s.namespace)(ctx); err != nil {
		return client.IgnoreNotFound(err)
	}
	runs, err := s.runs(ctx)
	if err != nil {
		return err
	}
	under := 0
	for i := range runs {
		if runs[i].Status.CompletionTime == nil {
			under++
		}
		if err := s.run(ctx, t, &runs[i]); err != nil {
			return err
		}
	}
	s.most = max(s.most, under)
	return s.c.Get(ctx, client.ObjectKeyFromObject(s.b), s.b)
}

func (s *bench) runs(ctx context.Context) ([]v1alpha1.PgBenchmark, error) {
	list := &v1alpha1.PgBenchmarkList{}
	err := s.c.List(ctx, list, client.InNamespace(s.namespace), client.MatchingLabels(naming.BenchmarkLabels(s.b.Name)))
	return list.Items, err
}

// run reports of one that has its Job.
func (s *bench) run(ctx context.Context, t *testing.T, run *v1alpha1.PgBenchmark) error {
	t.Helper()
	if s.uids[run.Name] == nil {
		s.uids[run.Name] = map[string]bool{}
	}
	s.uids[run.Name][string(run.UID)] = true
	if run.Status.Run != nil || run.DeletionTimestamp != nil {
		return nil
	}
	key := client.ObjectKey{Namespace: run.Namespace, Name: naming.BenchmarkObject(run.Name, string(run.UID))}
	if err := s.c.Get(ctx, key, &batchv1.Job{}); err != nil {
		return client.IgnoreNotFound(err)
	}
	target := &v1alpha1.PgStorageCluster{}
	if err := s.c.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: run.Spec.Cluster}, target); err != nil {
		return err
	}
	if target.Spec.Durability == s.failing {
		simulatedReport(t, s.c, run, map[string]any{"phase": "Failed", "percent": int64(10), "reason": "Failed", "message": "pgbench: simulated"})
		return nil
	}
	tps := strconv.Itoa(s.from+len(s.tps)) + ".25"
	s.tps[string(run.UID)] = tps
	report := succeeded()
	report["results"] = []any{map[string]any{"clients": int64(1), "tps": tps, "failed": int64(0), "retried": int64(0)}}
	simulatedReport(t, s.c, run, report)
	return nil
}

func (s *bench) ended() error {
	if s.b.Status.Phase != "Succeeded" && s.b.Status.Phase != "Failed" || !meta.IsStatusConditionTrue(s.b.Status.Conditions, v1alpha1.ConditionCleanedUp) {
		return fmt.Errorf("phase %s, %+v", s.b.Status.Phase, s.b.Status.Conditions)
	}
	return nil
}

// toTheEnd simulates until the matrix has ended and is cleaned up.
func (s *bench) toTheEnd(t *testing.T) {
	t.Helper()
	eventually(t, "the end of the matrix", func(ctx context.Context) error {
		return errors.Join(s.simulate(ctx, t), s.ended())
	})
}

// complete checks that each of the runs was made once, and recorded once with its own
// figure.
func (s *bench) complete(t *testing.T) {
	t.Helper()
	var recorded []string
	for _, v := range s.b.Status.Matrix.Variants {
		for i, run := range v.Runs {
			if int(run.Repeat) != i+1 {
				t.Errorf("%s: repeats %+v", v.Name, v.Runs)
			}
			recorded = append(recorded, run.TPS)
		}
	}
	slices.Sort(recorded)
	if reported := slices.Sorted(maps.Values(s.tps)); len(recorded) != 4 || !slices.Equal(recorded, reported) {
		t.Errorf("recorded %v of what was reported: %v", recorded, reported)
	}
	for name, uids := range s.uids {
		if len(uids) != 1 {
			t.Errorf("%s was made %d times", name, len(uids))
		}
	}
	if len(s.uids) != 4 || s.most != 1 {
		t.Errorf("%d runs, %d at once", len(s.uids), s.most)
	}
	clusters := &v1alpha1.PgStorageClusterList{}
	if err := s.c.List(t.Context(), clusters, client.InNamespace(s.namespace)); err != nil || len(clusters.Items) > 0 {
		t.Errorf("clusters are left: %v %+v", err, clusters.Items)
	}
}

func TestMatrixRunsAndCleansUp(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "matrix")
	bystander := cluster(ns, "bystander", "matrix")
	create(t, c, bystander)
	b := matrix(ns, "tiers", "matrix")
	create(t, c, b)
	s := newBench(c, b)
	s.toTheEnd(t)
	if err := c.Delete(t.Context(), bystander); err != nil {
		t.Errorf("the matrix took a cluster that is not its own: %v", err)
	}
	gone(t, c, client.ObjectKeyFromObject(bystander), &v1alpha1.PgStorageCluster{})
	s.complete(t)
	m := b.Status.Matrix
	if m.Progress != "4 of 4" || m.Percent != 100 || m.Clusters != 2 || m.Estimate == "" || m.Remaining != "" || len(m.Tiers) != 2 {
		t.Errorf("%+v", m)
	}
	if c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionReady); c == nil || c.Status != metav1.ConditionTrue {
		t.Errorf("%+v", b.Status.Conditions)
	}
	// Deleting the benchmark deletes its runs; this API server has no garbage collector for
	// them.
	if err := c.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	gone(t, c, client.ObjectKeyFromObject(b), &v1alpha1.PgBenchmark{})
	if runs, err := s.runs(t.Context()); err != nil || len(runs) > 0 {
		t.Errorf("runs are left: %v %d", err, len(runs))
	}
}

func TestMatrixContinuesAfterAFailedVariant(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "matrix-failing")
	b := matrix(ns, "tiers", "matrix-failing")
	b.Spec.Matrix.MaxFailures = 1
	create(t, c, b)
	s := newBench(c, b)
	s.failing = v1alpha1.DurabilityAsync
	s.toTheEnd(t)
	if m := b.Status.Matrix; b.Status.Phase != "Succeeded" || m.Succeeded != 2 || m.Failed != 1 || m.Skipped != 1 {
		t.Errorf("%s %+v", b.Status.Phase, m)
	}
	for _, v := range b.Status.Matrix.Variants {
		if v.Durability == v1alpha1.DurabilityAsync && (len(v.Runs) != 1 || v.Runs[0].Reason != v1alpha1.ReasonFailed) {
			t.Errorf("%+v", v)
		}
	}
}

// A parameter that only the controllers can refuse fails its variant, not the matrix.
func TestMatrixReportsARefusedCluster(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "matrix-refused")
	b := matrix(ns, "memory", "matrix-refused")
	b.Spec.Template.Durability = v1alpha1.DurabilityLocal
	b.Spec.Matrix.Durability, b.Spec.Matrix.MaxFailures = nil, 1
	b.Spec.Matrix.Parameters = []v1alpha1.ParameterAxis{{Name: "work_mem", Values: []string{"8MB", "64mb"}}}
	create(t, c, b)
	newBench(c, b).toTheEnd(t)
	for _, v := range b.Status.Matrix.Variants {
		run := v.Runs[0]
		if refused := v.Name == "work_mem=64mb clients=1"; (run.Reason == v1alpha1.ReasonTargetNotReady) != refused {
			t.Errorf("%s: %+v", v.Name, run)
		}
	}
	if b.Status.Phase != "Succeeded" || b.Status.Matrix.Failed != 1 || b.Status.Matrix.Succeeded != 2 {
		t.Errorf("%s %+v", b.Status.Phase, b.Status.Matrix)
	}
}

func TestMatrixOnAGivenClusterIsGated(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	cr := readyCluster(t, c, "given")
	b := benchmark(cr, "nightly")
	b.Spec.Matrix = &v1alpha1.BenchmarkMatrix{Repeats: 3, Rest: "0s"}
	b.Spec.Pgbench = v1alpha1.PgbenchSpec{Clients: []int32{1}, Duration: "1s", WarmUp: "0s", Integrity: v1alpha1.IntegrityBasic}
	after := b.DeepCopy()
	after.Name, after.Spec.Gate = "change", &v1alpha1.BenchmarkGate{Baseline: "nightly"}
	create(t, c, b)
	s := newBench(c, b)
	s.toTheEnd(t)
	if b.Status.Durability != v1alpha1.DurabilityLocal || b.Status.BestTPS != "1001.25" {
		t.Errorf("%+v", b.Status)
	}
	create(t, c, after)
	newBench(c, after).toTheEnd(t)
	eventually(t, "the gate", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(after), after); err != nil {
			return err
		}
		if !meta.IsStatusConditionTrue(after.Status.Conditions, v1alpha1.ConditionNotRegressed) {
			return fmt.Errorf("%+v", after.Status.Conditions)
		}
		return nil
	})
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(cr), cr); err != nil || cr.DeletionTimestamp != nil {
		t.Errorf("the given cluster was deleted: %v", err)
	}
}

// A matrix that is deleted in the middle takes its runs and clusters along.
func TestMatrixDeletedWhileItRunsLeavesNothing(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "matrix-deleted")
	b := matrix(ns, "tiers", "matrix-deleted")
	create(t, c, b)
	s := newBench(c, b)
	eventually(t, "the second run", func(ctx context.Context) error {
		if err := s.simulate(ctx, t); err != nil {
			return err
		}
		if len(s.uids) < 2 {
			return fmt.Errorf("%d runs", len(s.uids))
		}
		return nil
	})
	if err := c.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	gone(t, c, client.ObjectKeyFromObject(b), &v1alpha1.PgBenchmark{})
	if runs, err := s.runs(t.Context()); err != nil || len(runs) > 0 {
		t.Errorf("runs are left: %v %d", err, len(runs))
	}
	clusters := &v1alpha1.PgStorageClusterList{}
	if err := c.List(t.Context(), clusters, client.InNamespace(ns)); err != nil || len(clusters.Items) > 0 {
		t.Errorf("clusters are left: %v %d", err, len(clusters.Items))
	}
}

// Throughout a whole matrix each manager is killed after its first write. A manager writes some
// objects in each pass until the next one exists, so a new manager may repeat that write. In
// that case the cut comes after each write in turn.
func TestMatrixSurvivesACrashAfterEveryWrite(t *testing.T) {
	long.Skip(t, "make test-integration")
	c := apiserver.Client(t, config)
	storage(t, c, "matrix-killed")
	ns := namespace(t, c)
	b := matrix(ns, "tiers", "matrix-killed")
	create(t, c, b)
	s := newBench(c, b)
	kills, allowed, before := 0, int64(1), any(nil)
	for deadline := time.Now().Add(10 * time.Minute); s.ended() != nil; kills++ {
		if time.Now().After(deadline) {
			t.Fatalf("it has not ended after %d kills: %+v", kills, b.Status)
		}
		w := &writes{failAfter: allowed, within: "/namespaces/" + ns + "/"}
		stop := manager.Start(t, w.into(config))
		eventually(t, "a write that is cut, or the end", func(ctx context.Context) error {
			if err := s.simulate(ctx, t); err != nil {
				return err
			}
			if w.count.Load() <= w.failAfter && s.ended() != nil {
				return errors.New("no write was cut")
			}
			return nil
		})
		stop()
		allowed++
		if first := w.first.Load(); first != before {
			before, allowed = first, 1
		}
	}
	s.complete(t)
	t.Logf("%d managers were killed", kills)
	// Two clusters, and four runs each with a database, a role, rights and a Job.
	if kills < 60 {
		t.Errorf("a whole matrix took %d managers: too few to be cut after each write", kills)
	}
}
