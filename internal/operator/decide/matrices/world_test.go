package matrices

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/status"
	"github.com/pgstorage/pgstorage/internal/operator/decide/benchmarks"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// twoByTwo is durability Local and Async by 1 and 8 clients, as the API server
// stores it.
func twoByTwo(change func(*v1alpha1.PgBenchmarkSpec)) *v1alpha1.PgBenchmark {
	one := int32(1)
	amounts := map[corev1.ResourceName]resource.Quantity{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")}
	b := &v1alpha1.PgBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "tiers", UID: "11111111-2222-3333-4444-555555555555", Generation: 1},
		Spec: v1alpha1.PgBenchmarkSpec{
			Template: &v1alpha1.ClusterTemplate{
				Profile:   "fast",
				Postgres:  v1alpha1.PostgresSpec{Version: "17", Database: "app", Owner: "app", Parameters: map[string]string{"work_mem": "16MB"}},
				Instances: &one,
				Storage:   v1alpha1.ClusterStorage{Size: resource.MustParse("10Gi")},
				Resources: v1alpha1.ClusterResources{Requests: amounts},
				Workload:  v1alpha1.WorkloadMixed,
			},
			Matrix: &v1alpha1.BenchmarkMatrix{
				Durability: []v1alpha1.DurabilityTier{v1alpha1.DurabilityLocal, v1alpha1.DurabilityAsync},
				Repeats:    5, Seed: 1, Rest: "10s", TargetTimeout: "20m", MaxFailures: 2,
			},
			Pgbench: v1alpha1.PgbenchSpec{Scale: 10, Clients: []int32{1, 8}, Duration: "1m", WarmUp: "10s", Repeats: 1, Cleanup: v1alpha1.CleanupAlways},
		},
	}
	if change != nil {
		change(&b.Spec)
	}
	return b
}

// world is a store with what a pass reads and writes, and a clock.
type world struct {
	*testing.T
	b     *v1alpha1.PgBenchmark
	facts observed.Matrix
	now   time.Time
	// begun counts how often each run was made; most is the most that were under way
	// at once.
	begun map[string]int
	most  int
	// tps of a run; negative where it fails.
	tps func(variant string, repeat int) float64
	// found by the checks of a run; nil is nothing.
	found func(variant string, repeat int) []v1alpha1.BenchmarkFinding
	// gone are the clusters that were deleted.
	gone []string
	// queued is true while runs wait for their turn, and get no Job.
	queued bool
}

func newWorld(t *testing.T, b *v1alpha1.PgBenchmark) *world {
	t.Helper()
	return &world{T: t, b: b, now: start, begun: map[string]int{}, tps: func(variant string, repeat int) float64 {
		return float64(100*len(variant) + repeat)
	}}
}

func (w *world) next() Decision {
	w.Helper()
	step, err := Decide(w.b, w.facts, metav1.NewTime(w.now))
	if err != nil {
		w.Fatal(err)
	}
	return step
}

// take what a controller would of a step, and stop after so many of its three parts.
func (w *world) take(step Decision, parts int) {
	w.Helper()
	if parts < 1 {
		return
	}
	s := step.Status
	s.Conditions = status.Conditions(w.b.Status.Conditions, w.b.Generation, metav1.NewTime(w.now), step.Outcomes)
	w.b.Status = s
	if parts < 2 {
		return
	}
	for _, run := range step.Benchmarks {
		w.facts.Benchmarks = slices.DeleteFunc(w.facts.Benchmarks, func(b *v1alpha1.PgBenchmark) bool { return b == run })
	}
	for _, cluster := range step.Clusters {
		w.gone = append(w.gone, cluster.Name)
		w.facts.Clusters = slices.DeleteFunc(w.facts.Clusters, func(c *v1alpha1.PgStorageCluster) bool { return c == cluster })
	}
	if parts < 3 {
		return
	}
	for _, o := range step.Plan.Open() {
		w.apply(o.Content.GetKind(), o.Content.Object)
	}
}

// apply one object, which changes nothing where it is there.
func (w *world) apply(kind string, content map[string]any) {
	w.Helper()
	if kind == "PgStorageCluster" {
		c := &v1alpha1.PgStorageCluster{}
		w.convert(content, c)
		if !slices.ContainsFunc(w.facts.Clusters, func(known *v1alpha1.PgStorageCluster) bool { return known.Name == c.Name }) {
			w.facts.Clusters = append(w.facts.Clusters, c)
		}
		return
	}
	run := &v1alpha1.PgBenchmark{}
	w.convert(content, run)
	if !slices.ContainsFunc(w.facts.Benchmarks, func(known *v1alpha1.PgBenchmark) bool { return known.Name == run.Name }) {
		w.begun[run.Name]++
		w.facts.Benchmarks = append(w.facts.Benchmarks, run)
	}
	under := 0
	for _, b := range w.facts.Benchmarks {
		if b.Status.CompletionTime == nil {
			under++
		}
	}
	w.most = max(w.most, under)
}

func (w *world) convert(content map[string]any, into any) {
	w.Helper()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, into); err != nil {
		w.Fatal(err)
	}
}

// live lets time pass: clusters become Ready, a run that was begun has its Job, then
// its result, then is cleaned up.
func (w *world) live() {
	w.Helper()
	w.now = w.now.Add(15 * time.Second)
	for _, c := range w.facts.Clusters {
		w.readyCluster(c)
	}
	for _, run := range w.facts.Benchmarks {
		switch {
		case run.Annotations[naming.AnnotationVariant] == "":
		case run.Status.Job == "":
			w.stated(run)
			if !w.queued {
				run.Status.Job, run.Status.Phase = run.Name, "Running"
				run.Status.Run = &v1alpha1.BenchmarkRun{Phase: "Running", Durability: w.durability(run.Spec.Cluster)}
			}
		case run.Status.CompletionTime == nil:
			w.end(run)
		default:
			meta.SetStatusCondition(&run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionCleanedUp, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCleanedUp})
		}
	}
}

func (w *world) readyCluster(c *v1alpha1.PgStorageCluster) {
	meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonReady, ObservedGeneration: c.Generation})
}

// end a run with its figure.
func (w *world) end(run *v1alpha1.PgBenchmark) {
	w.Helper()
	repeat := 0
	if _, err := fmt.Sscan(run.Annotations[naming.AnnotationRepeat], &repeat); err != nil {
		w.Fatal(err)
	}
	now := metav1.NewTime(w.now)
	run.Status.CompletionTime = &now
	tps := w.tps(run.Annotations[naming.AnnotationVariant], repeat)
	if tps < 0 {
		run.Status.Phase = "Failed"
		meta.SetStatusCondition(&run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonFailed, Message: "simulated"})
		return
	}
	run.Status.Phase = "Succeeded"
	result := v1alpha1.BenchmarkResult{Clients: run.Spec.Pgbench.Clients[0], TPS: fmt.Sprint(tps)}
	if w.found != nil {
		result.Findings = w.found(run.Annotations[naming.AnnotationVariant], repeat)
	}
	run.Status.Run.Phase, run.Status.Run.Fingerprint, run.Status.Run.Results = "Succeeded", "f", []v1alpha1.BenchmarkResult{result}
	w.stated(run)
}

// stated writes the tier of a run as its controller does in each pass.
func (w *world) stated(run *v1alpha1.PgBenchmark) {
	w.Helper()
	facts := observed.Benchmark{}
	for _, c := range w.facts.Clusters {
		if c.Name == run.Spec.Cluster {
			facts.Target = c
		}
	}
	run.Status.Durability = benchmarks.Status(run, facts, outcome.Outcome{Kind: outcome.Wait}, metav1.NewTime(w.now)).Durability
}

func (w *world) durability(cluster string) v1alpha1.DurabilityTier {
	for _, c := range w.facts.Clusters {
		if c.Name == cluster {
			return c.Spec.Durability
		}
	}
	w.Errorf("a run starts on %s, which is gone", cluster)
	return ""
}

// toTheEnd lets passes and time alternate until the matrix has ended and all is
// cleaned up.
func (w *world) toTheEnd() {
	w.Helper()
	for range 2000 {
		w.take(w.next(), 3)
		if w.cleanedUp() {
			return
		}
		w.live()
	}
	w.Fatalf("it does not come to an end: %+v", w.b.Status)
}

func (w *world) cleanedUp() bool {
	return meta.IsStatusConditionTrue(w.b.Status.Conditions, v1alpha1.ConditionCleanedUp)
}

func (w *world) condition(kind string) metav1.Condition {
	w.Helper()
	c := meta.FindStatusCondition(w.b.Status.Conditions, kind)
	if c == nil {
		w.Fatalf("no condition %s among %+v", kind, w.b.Status.Conditions)
	}
	return *c
}

// recorded are the repeats of each variant that have an outcome.
func (w *world) recorded(outcome string) map[string]int {
	all := map[string]int{}
	for _, v := range w.b.Status.Matrix.Variants {
		for _, run := range v.Runs {
			if run.Outcome == outcome {
				all[v.Name]++
			}
		}
	}
	return all
}
