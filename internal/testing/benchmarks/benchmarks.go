// Package benchmarks has PgBenchmarks of recorded runs, as a cluster holds them after
// manager and runner: status, runs of a matrix, and records in ConfigMaps.
package benchmarks

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/fingerprint"
	"github.com/pgstorage/pgstorage/internal/bench/record"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/decide/matrices"
	"github.com/pgstorage/pgstorage/internal/testing/recorded"
)

// attempt that made every record.
const attempt = "0f0e0d0c-0000-4000-8000-000000000001"

var ended = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

// Objects of one PgBenchmark.
type Objects struct {
	Benchmark *v1alpha1.PgBenchmark
	// Runs of a matrix, and the Records, which are owned by the one of their place, or
	// by the Benchmark where that has no matrix. A Record is nil where none was left.
	Runs    []*v1alpha1.PgBenchmark
	Records []*corev1.ConfigMap
}

// Snapshot is what is read of them.
func (o Objects) Snapshot() snapshot.Records {
	s := snapshot.Records{Benchmark: o.Benchmark, Runs: map[string]*v1alpha1.PgBenchmark{}, ByBenchmark: map[string]map[string][]byte{}}
	for _, run := range o.Runs {
		s.Runs[run.Name] = run
	}
	for i, r := range o.Records {
		owner := o.Benchmark
		if len(o.Runs) > 0 {
			owner = o.Runs[i]
		}
		if r != nil {
			s.ByBenchmark[owner.Name] = r.BinaryData
		}
	}
	return s
}

// Tiers is a matrix of durability Local and Async by 1 and 4 clients, five times,
// which has not begun.
func Tiers(namespace string) *v1alpha1.PgBenchmark {
	amounts := map[corev1.ResourceName]resource.Quantity{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")}
	one := int32(1)
	return &v1alpha1.PgBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "tiers", UID: "aaaaaaaa-0000-4000-8000-000000000000"},
		Spec: v1alpha1.PgBenchmarkSpec{
			Template: &v1alpha1.ClusterTemplate{
				Profile: "standard", Postgres: v1alpha1.PostgresSpec{Version: "17"}, Instances: &one,
				Storage: v1alpha1.ClusterStorage{Size: resource.MustParse("2Gi")}, Resources: v1alpha1.ClusterResources{Requests: amounts},
				Workload: v1alpha1.WorkloadMixed,
			},
			Matrix: &v1alpha1.BenchmarkMatrix{
				Durability: []v1alpha1.DurabilityTier{v1alpha1.DurabilityLocal, v1alpha1.DurabilityAsync},
				Repeats:    5, Seed: 1, Rest: "10s", TargetTimeout: "20m", MaxFailures: 2,
			},
			Pgbench: work(),
		},
	}
}

func work() v1alpha1.PgbenchSpec {
	return v1alpha1.PgbenchSpec{
		Scale: 4, Clients: []int32{1, 4}, Duration: "5s", WarmUp: "1s", Repeats: 1, Protocol: v1alpha1.ProtocolSimple,
		MaxTries: 1, Integrity: v1alpha1.IntegrityFull, Cleanup: v1alpha1.CleanupAlways,
	}
}

// Recorded runs of [Tiers].
func Recorded(t testing.TB) []analysis.Trial {
	t.Helper()
	runs := recorded.Matrix(t, "v17")
	for i := range runs {
		runs[i].Variant = fmt.Sprintf("durability=%s clients=%d", runs[i].Tier, runs[i].Result.Clients)
		runs[i].Settings = settings()
	}
	return runs
}

func settings() fingerprint.Settings {
	s := fingerprint.Settings{}
	s.Set(fingerprint.Postgres, "shared_buffers", "128MB")
	s.Set(fingerprint.Versions, "server", "17.6")
	return s
}

// Matrix after these runs. One that has both a result and a failure has its record
// too.
func Matrix(t testing.TB, b *v1alpha1.PgBenchmark, runs []analysis.Trial) Objects {
	t.Helper()
	plan, err := matrices.Planned(b)
	if err != nil {
		t.Fatal(err)
	}
	o := Objects{Benchmark: b}
	m := &v1alpha1.MatrixStatus{Runs: int32(plan.Runs)} //nolint:gosec // G115: at most 1280
	for _, v := range plan.Variants {
		s := v1alpha1.VariantStatus{Name: v.Name}
		for _, run := range runs {
			if run.Variant != v.Name {
				continue
			}
			s.Durability, s.Clients = run.Tier, int32(run.Result.Clients) //nolint:gosec // G115: of two recordings
			child := o.addRun(t, run)
			s.Runs = append(s.Runs, matrixRun(run, child.Name))
			if run.Failure == "" {
				m.Succeeded++
			} else {
				m.Failed++
			}
		}
		m.Variants = append(m.Variants, s)
	}
	m.Progress = fmt.Sprintf("%d of %d", len(runs), plan.Runs)
	b.Status.Phase, b.Status.Matrix = "Running", m
	if len(runs) == plan.Runs {
		conclude(b, fmt.Sprintf("%d runs of %d variants: %d succeeded, %d failed, 0 skipped", plan.Runs, len(plan.Variants), m.Succeeded, m.Failed))
	}
	return o
}

func conclude(b *v1alpha1.PgBenchmark, message string) {
	b.Status.Phase, b.Status.CompletionTime = "Succeeded", &ended
	b.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonSucceeded, Message: message, LastTransitionTime: ended},
	}
}

func matrixRun(run analysis.Trial, name string) v1alpha1.MatrixRun {
	out := v1alpha1.MatrixRun{Repeat: int32(run.Repeat), Benchmark: name, CompletionTime: &ended} //nolint:gosec // G115: at most 20
	if run.Failure != "" {
		out.Outcome, out.Reason, out.Message = "Failed", v1alpha1.ReasonFailed, run.Failure
		return out
	}
	out.Outcome = "Succeeded"
	out.TPS, out.LatencyAverage, out.LatencyP99 = figure(run.Result.TPS), figure(run.Result.LatencyAvg), figure(run.Latencies.Percentile(99))
	return out
}

func figure(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// addRun of a matrix and its record.
func (o *Objects) addRun(t testing.TB, run analysis.Trial) *v1alpha1.PgBenchmark {
	t.Helper()
	name := naming.MatrixRun(o.Benchmark.Name, string(o.Benchmark.UID), run.Variant, run.Repeat)
	child := &v1alpha1.PgBenchmark{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: o.Benchmark.Namespace, Name: name, UID: types.UID("bbbbbbbb-0000-4000-8000-" + fmt.Sprintf("%012d", len(o.Runs))),
			Labels: naming.BenchmarkLabels(o.Benchmark.Name),
		},
		Spec: v1alpha1.PgBenchmarkSpec{Cluster: "pgb-tiers", Pgbench: work()},
	}
	child.Spec.Pgbench.Clients = []int32{int32(run.Result.Clients)} //nolint:gosec // G115: of two recordings
	run.Failure, run.Repeat = "", 1
	child.Status.Run = &v1alpha1.BenchmarkRun{Attempt: attempt, Record: naming.BenchmarkRecord(name, string(child.UID))}
	o.Runs, o.Records = append(o.Runs, child), append(o.Records, kept(t, child, []analysis.Trial{run}))
	return child
}

// Single benchmark of these runs, whose variants are of its client counts.
func Single(t testing.TB, namespace string, repeats int32, runs []analysis.Trial) Objects {
	t.Helper()
	b := &v1alpha1.PgBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "nightly", UID: "cccccccc-0000-4000-8000-000000000000"},
		Spec:       v1alpha1.PgBenchmarkSpec{Cluster: "shop", Pgbench: work()},
	}
	b.Spec.Pgbench.Repeats = repeats
	b.Status.Phase, b.Status.Durability = "Running", runs[0].Tier
	b.Status.Run = &v1alpha1.BenchmarkRun{
		Attempt: attempt, Record: naming.BenchmarkRecord(b.Name, string(b.UID)), ServerVersion: "17.6", SynchronousCommit: "on", Results: results(b.Spec.Pgbench.Clients, runs),
	}
	if len(runs) == len(b.Spec.Pgbench.Clients)*int(repeats) {
		conclude(b, "87.36 TPS at best, durability Local")
	}
	return Objects{Benchmark: b, Records: []*corev1.ConfigMap{kept(t, b, runs)}}
}

// results of each client count, with the rate of every repeat.
func results(clients []int32, runs []analysis.Trial) []v1alpha1.BenchmarkResult {
	var out []v1alpha1.BenchmarkResult
	for _, n := range clients {
		r := v1alpha1.BenchmarkResult{Clients: n}
		for _, run := range runs {
			if run.Result.Clients == int(n) {
				r.TPSOfRuns = append(r.TPSOfRuns, figure(run.Result.TPS))
				r.TPS, r.LatencyAverage = figure(run.Result.TPS), figure(run.Result.LatencyAvg)
			}
		}
		if r.TPS != "" {
			out = append(out, r)
		}
	}
	return out
}

// kept is the record of a benchmark.
func kept(t testing.TB, b *v1alpha1.PgBenchmark, runs []analysis.Trial) *corev1.ConfigMap {
	t.Helper()
	r := record.Record{Attempt: attempt}
	for _, run := range runs {
		latencies, err := run.Latencies.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		r.Runs = append(r.Runs, record.Run{
			Clients: run.Result.Clients, Repeat: run.Repeat, Durability: run.Tier, Failure: run.Failure, Result: run.Result,
			Seconds: run.Seconds, Latencies: string(latencies), SamplingRate: 1, Facts: run.Facts, Settings: run.Settings,
		})
	}
	data, err := record.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: naming.BenchmarkRecord(b.Name, string(b.UID)), Labels: naming.BenchmarkLabels(b.Name)},
		BinaryData: data,
	}
}

// Without the records of some runs, by place.
func (o Objects) Without(places ...int) Objects {
	o.Records = slices.Clone(o.Records)
	for _, i := range places {
		o.Records[i] = nil
	}
	return o
}
