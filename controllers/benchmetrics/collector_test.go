package benchmetrics

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/scheme"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func nightly(scheduled metav1.ConditionStatus) *v1alpha1.PgScheduledBenchmark {
	s := &v1alpha1.PgScheduledBenchmark{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "nightly", UID: "nightly"}}
	s.Spec.Schedule, s.Spec.TimeZone = "0 0 * * *", "UTC"
	s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionScheduled, Status: scheduled, LastTransitionTime: metav1.NewTime(noon)}}
	return s
}

func benchmark(name string, owner client.Object, kind string, ended time.Time) *v1alpha1.PgBenchmark {
	b := &v1alpha1.PgBenchmark{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: name, UID: types.UID(name)}}
	if owner != nil {
		b.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: kind, Name: owner.GetName(), UID: owner.GetUID(), Controller: new(true)}}
	}
	b.Status.Phase, b.Status.Durability, b.Status.CompletionTime = "Succeeded", v1alpha1.DurabilityLocal, new(metav1.NewTime(ended))
	b.Status.Run = &v1alpha1.BenchmarkRun{Results: []v1alpha1.BenchmarkResult{{Clients: 8, TPS: "100.5", LatencyP99: "12.5"}}}
	return b
}

// gathered are the metrics of objects, as Prometheus reads them.
func gathered(t *testing.T, objects ...client.Object) string {
	t.Helper()
	reader := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(objects...).Build()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(&Collector{Reader: reader, Clock: clocktesting.NewFakePassiveClock(noon)})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				if l.GetValue() != "" {
					labels = append(labels, l.GetName()+"="+l.GetValue())
				}
			}
			fmt.Fprintf(&out, "%s{%s} %v\n", strings.TrimPrefix(f.GetName(), "pgstorage_benchmark_"), strings.Join(labels, ","), m.GetGauge().GetValue())
		}
	}
	return out.String()
}

func TestSeries(t *testing.T) {
	s := nightly(metav1.ConditionTrue)
	s.Status.LastSuccessfulTime = new(metav1.NewTime(noon.Add(time.Hour)))
	s.Status.LastResult = &v1alpha1.ScheduledResult{Benchmark: "nightly-2", Phase: "Succeeded", NotRegressed: metav1.ConditionFalse}
	old, last := benchmark("nightly-1", s, "PgScheduledBenchmark", noon), benchmark("nightly-2", s, "PgScheduledBenchmark", noon.Add(time.Hour))
	old.Status.Run.Results[0].TPS = "99"
	last.Status.Run = nil
	last.Status.Matrix = &v1alpha1.MatrixStatus{Variants: []v1alpha1.VariantStatus{
		{Name: "tier=Local clients=8", Durability: v1alpha1.DurabilityLocal, MedianTPS: "200", Runs: []v1alpha1.MatrixRun{
			{Outcome: "Succeeded", LatencyP99: "30"}, {Outcome: "Succeeded", LatencyP99: "10"}, {Outcome: "Failed"}, {Outcome: "Succeeded", LatencyP99: "20"},
			// Rejected runs do not count.
			{Outcome: "Succeeded", LatencyP99: "400", Rejected: "BackupRunning"}, {Outcome: "Succeeded", LatencyP99: "500", Rejected: "BackupRunning"},
		}},
		{Name: "tier=Async clients=8", Durability: v1alpha1.DurabilityAsync, Runs: []v1alpha1.MatrixRun{{Outcome: "Succeeded", LatencyP99: "400", Rejected: "BackupRunning"}}},
	}}
	alone := benchmark("alone", nil, "", noon)
	ofMatrix := benchmark("run-of-a-matrix", alone, "PgBenchmark", noon)
	running := benchmark("running", nil, "", noon)
	running.Status.Phase = "Running"
	got := gathered(t, s, old, last, alone, ofMatrix, running)
	at := noon.Add(time.Hour).Unix()
	want := "last_success_timestamp_seconds{benchmark=alone,namespace=prod} " + number64(noon.Unix()) + "\n" +
		"last_success_timestamp_seconds{namespace=prod,schedule=nightly} " + number64(at) + "\n" +
		"latency_p99_seconds{benchmark=alone,durability=Local,namespace=prod,variant=clients=8} 0.0125\n" +
		"latency_p99_seconds{durability=Local,namespace=prod,schedule=nightly,variant=tier=Local clients=8} 0.02\n" +
		"objects_left_out{} 0\n" +
		"regressed{namespace=prod,schedule=nightly} 1\n" +
		"schedule_late_timestamp_seconds{namespace=prod,schedule=nightly} " + number64(at+2*24*3600) + "\n" +
		"tps{benchmark=alone,durability=Local,namespace=prod,variant=clients=8} 100.5\n" +
		"tps{durability=Local,namespace=prod,schedule=nightly,variant=tier=Local clients=8} 200\n"
	if sorted(got) != sorted(want) {
		t.Errorf("gathered:\n%swant:\n%s", got, want)
	}
	// Series go with their object.
	if got := gathered(t, s, alone); strings.Contains(got, "tier=Local") || !strings.Contains(got, "regressed{namespace=prod,schedule=nightly} 1") {
		t.Errorf("%s", got)
	}
}

func number64(n int64) string { return fmt.Sprint(float64(n)) }

func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestLate(t *testing.T) {
	suspended := nightly(metav1.ConditionTrue)
	suspended.Spec.Suspend = true
	weekdays := nightly(metav1.ConditionTrue)
	weekdays.Spec.Schedule = "0 0 * * 1-5"
	resumed := nightly(metav1.ConditionTrue)
	resumed.Status.LastSuccessfulTime = new(metav1.NewTime(noon.Add(-90 * 24 * time.Hour)))
	for name, tc := range map[string]struct {
		s    *v1alpha1.PgScheduledBenchmark
		want time.Duration // after noon; 0: never
	}{
		"never succeeded":       {nightly(metav1.ConditionTrue), 48 * time.Hour},
		"suspended":             {suspended, 0},
		"about to be suspended": {nightly(metav1.ConditionFalse), 0},
		"over weekends":         {weekdays, 6 * 24 * time.Hour},
		"long ago, and resumed": {resumed, 48 * time.Hour},
	} {
		got := lateOf(tc.s)
		if tc.want == 0 && got != nil || tc.want != 0 && (got == nil || !got.Equal(noon.Add(tc.want))) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func lateOf(s *v1alpha1.PgScheduledBenchmark) *time.Time {
	all, _ := figuresOf([]v1alpha1.PgScheduledBenchmark{*s}, nil, noon)
	return all[0].late
}

// However many there are, the series are bounded, and what is left out is counted.
func TestBounds(t *testing.T) {
	var schedules []v1alpha1.PgScheduledBenchmark
	var benchmarks []v1alpha1.PgBenchmark
	for i := range 130 {
		s := nightly(metav1.ConditionTrue)
		s.Name = fmt.Sprint("s", i)
		schedules = append(schedules, *s)
		b := benchmark(fmt.Sprint("b", i), nil, "", noon.Add(time.Duration(i)*time.Minute))
		for n := range 100 {
			b.Status.Run.Results = append(b.Status.Run.Results, v1alpha1.BenchmarkResult{Clients: int32(n + 10), TPS: "1"})
		}
		benchmarks = append(benchmarks, *b)
	}
	all, left := figuresOf(schedules, benchmarks, noon)
	if len(all) != 200 || left != 60 {
		t.Errorf("%d objects, %d left out", len(all), left)
	}
	for _, f := range all {
		if len(f.variants) > mostVariants || f.benchmark == "b0" {
			t.Errorf("%s with %d variants", f.benchmark, len(f.variants))
		}
	}
}

// One tenant does not displace the schedules and benchmarks of another, and a suspended schedule
// displaces none.
func TestBoundsAreSharedByNamespaces(t *testing.T) {
	var schedules []v1alpha1.PgScheduledBenchmark
	var benchmarks []v1alpha1.PgBenchmark
	for i := range 131 {
		s, b := nightly(metav1.ConditionTrue), benchmark(fmt.Sprint("b", i), nil, "", noon.Add(time.Duration(i)*time.Minute))
		s.Namespace, s.Name, b.Namespace = "aa", fmt.Sprintf("s%03d", i), "aa"
		if i == 0 {
			s.Namespace, b.Namespace = "zz", "zz"
		}
		s.Spec.Suspend = i == 1
		schedules, benchmarks = append(schedules, *s), append(benchmarks, *b)
	}
	all, left := figuresOf(schedules, benchmarks, noon)
	found := map[string]bool{}
	for _, f := range all {
		found[f.namespace+"/"+f.schedule+f.benchmark] = true
	}
	want := map[string]bool{
		"zz/s000": true, "aa/s001": false, "aa/s002": true, "aa/s100": true, "aa/s101": false,
		"zz/b0": true, "aa/b31": false, "aa/b32": true, "aa/b130": true,
	}
	for name, kept := range want {
		if found[name] != kept {
			t.Errorf("%s has series: %t", name, found[name])
		}
	}
	if len(found) != 200 || left != 62 {
		t.Errorf("%d objects, %d left out", len(found), left)
	}
}

// Names and labels are as Prometheus wants them.
func TestNames(t *testing.T) {
	s := nightly(metav1.ConditionTrue)
	reader := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(s, benchmark("b", nil, "", noon)).Build()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(&Collector{Reader: reader, Clock: clocktesting.NewFakePassiveClock(noon)})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}
