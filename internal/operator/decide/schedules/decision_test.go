package schedules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/status"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// world is a schedule with what was made of it, and a time.
type world struct {
	t     *testing.T
	s     *v1alpha1.PgScheduledBenchmark
	all   []*v1alpha1.PgBenchmark
	now   time.Time
	last  Decision
	wrote int
}

// newWorld has a schedule of 02:30 every day since noon of the first of March.
func newWorld(t *testing.T, changes ...func(*v1alpha1.PgScheduledBenchmarkSpec)) *world {
	t.Helper()
	w := &world{t: t, now: moment(t, "2026-03-01T12:00:00Z")}
	w.s = &v1alpha1.PgScheduledBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "nightly", UID: "uid-of-nightly", Generation: 1, CreationTimestamp: metav1.NewTime(w.now)},
		Spec: v1alpha1.PgScheduledBenchmarkSpec{
			Schedule: "30 2 * * *", TimeZone: "UTC",
			Template: v1alpha1.BenchmarkTemplate{
				Metadata: v1alpha1.BenchmarkTemplateMetadata{Labels: map[string]string{"team": "a"}, Annotations: map[string]string{"why": "because"}},
				Spec:     v1alpha1.PgBenchmarkSpec{Cluster: "shop", Matrix: &v1alpha1.BenchmarkMatrix{Repeats: 3}},
			},
		},
	}
	for _, change := range changes {
		change(&w.s.Spec)
	}
	return w
}

// at goes to a time and passes until nothing changes, as watches would have it.
func (w *world) at(text string) Decision {
	w.t.Helper()
	w.now = moment(w.t, text)
	first := w.pass("")
	for range 5 {
		before := w.wrote
		w.pass("")
		if w.wrote == before {
			return first
		}
	}
	w.t.Fatalf("%s: it does not come to rest: %+v", text, w.last)
	return Decision{}
}

// pass once, and carry it out as the controller does.
func (w *world) pass(refusal string) Decision {
	w.t.Helper()
	before := w.s.DeepCopy()
	step := Decide(w.s, observed.Schedule{Benchmarks: w.all, Refusal: refusal}, w.now)
	if !same(before, w.s) {
		w.t.Fatal("the pass changed what it was given")
	}
	if step.Create != nil {
		b := step.Create.DeepCopy()
		b.CreationTimestamp = metav1.NewTime(w.now)
		if slices.ContainsFunc(w.all, func(have *v1alpha1.PgBenchmark) bool { return have.Name == b.Name }) {
			w.t.Fatalf("%s is made twice", b.Name)
		}
		w.all = append(w.all, b)
	}
	step.Status.Conditions = status.Conditions(w.s.Status.Conditions, w.s.Generation, metav1.NewTime(w.now), step.Outcomes)
	w.s.Status = step.Status
	for _, gone := range step.Prune {
		w.all = slices.DeleteFunc(w.all, func(b *v1alpha1.PgBenchmark) bool { return b.Name == gone.Name })
	}
	if !same(before, w.s) || step.Create != nil || len(step.Prune) > 0 {
		w.wrote++
	}
	w.last = step
	return step
}

func same(a, b *v1alpha1.PgScheduledBenchmark) bool { return semanticEqual(a, b) }

// ends the run that is under way.
func (w *world) ends(phase string, conditions ...metav1.Condition) *v1alpha1.PgBenchmark {
	w.t.Helper()
	for _, b := range w.all {
		if b.Status.Phase == "" {
			b.Status.Phase, b.Status.CompletionTime = phase, new(metav1.NewTime(w.now))
			b.Status.BestTPS, b.Status.Durability = "812.4", v1alpha1.DurabilityLocal
			b.Status.Matrix = figures(3, 3)
			complete := metav1.Condition{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonSucceeded}
			if phase == "Failed" {
				complete.Status, complete.Reason, complete.Message = metav1.ConditionFalse, v1alpha1.ReasonFailed, "pgbench ended"
			}
			b.Status.Conditions = append([]metav1.Condition{complete}, conditions...)
			return b
		}
	}
	w.t.Fatal("no run is under way")
	return nil
}

// figures of a matrix with as many counted runs of three for each variant. The others are
// rejected.
func figures(counted ...int) *v1alpha1.MatrixStatus {
	m := &v1alpha1.MatrixStatus{}
	for i, n := range counted {
		v := v1alpha1.VariantStatus{Name: fmt.Sprint("clients=", i+1)}
		for repeat := range 3 {
			run := v1alpha1.MatrixRun{Repeat: int32(repeat + 1), Outcome: "Succeeded", TPS: "812.4"}
			if repeat >= n {
				run.Rejected = "BackupRunning"
			}
			v.Runs = append(v.Runs, run)
		}
		m.Variants = append(m.Variants, v)
	}
	return m
}

func (w *world) names() string {
	var names []string
	for _, b := range w.all {
		names = append(names, b.Name)
	}
	return strings.Join(names, " ")
}

func (w *world) reason(kind string) string {
	c := meta.FindStatusCondition(w.s.Status.Conditions, kind)
	if c == nil {
		return ""
	}
	return string(c.Status) + " " + c.Reason
}

func (w *world) wants(kind, want string) {
	w.t.Helper()
	if got := w.reason(kind); got != want {
		w.t.Errorf("%s is %q, want %q", kind, got, want)
	}
}

func (s Decision) told() string {
	var reasons []string
	for _, e := range s.Events {
		reasons = append(reasons, e.Reason)
	}
	return strings.Join(reasons, " ")
}

func name(t *testing.T, at string) string { return naming.ScheduledBenchmark("nightly", moment(t, at)) }

func TestRunsBeginOnTime(t *testing.T) {
	w := newWorld(t)
	if step := w.at("2026-03-01T12:00:00Z"); step.Create != nil || step.After != 14*time.Hour+30*time.Minute {
		t.Fatalf("%+v", step)
	}
	w.wants(v1alpha1.ConditionReady, "True Ready")
	w.wants(v1alpha1.ConditionScheduled, "True Scheduled")
	w.wants(v1alpha1.ConditionOnTime, "True OnTime")
	w.wants(v1alpha1.ConditionLastRunSucceeded, "Unknown NotRun")
	w.wants(v1alpha1.ConditionNotRegressed, "")
	step := w.at("2026-03-02T02:30:00Z")
	b := step.Create
	if b == nil || b.Name != "nightly-29540310" || step.told() != EventCreated {
		t.Fatalf("%+v", step)
	}
	if b.Labels["team"] != "a" || b.Labels[naming.LabelSchedule] != "nightly" || b.Annotations["why"] != "because" ||
		b.Annotations[naming.AnnotationScheduledAt] != "2026-03-02T02:30:00Z" || !metav1.IsControlledBy(b, w.s) || b.Spec.Cluster != "shop" || b.Spec.Gate != nil {
		t.Errorf("%+v", b)
	}
	if own := b.OwnerReferences[0]; own.BlockOwnerDeletion != nil || own.Kind != "PgScheduledBenchmark" {
		t.Errorf("%+v", own)
	}
	s := w.s.Status
	if !s.LastScheduleTime.Time.Equal(w.now) || !s.NextScheduleTime.Time.Equal(w.now.Add(24*time.Hour)) || !slices.Equal(s.Active, []string{b.Name}) {
		t.Errorf("%+v", s)
	}
	w.now = moment(t, "2026-03-02T02:40:00Z")
	w.ends("Succeeded")
	w.at("2026-03-02T02:40:00Z")
	w.wants(v1alpha1.ConditionLastRunSucceeded, "True Succeeded")
	if r := w.s.Status.LastResult; r == nil || r.Benchmark != b.Name || r.TPS != "812.4" || r.Durability != v1alpha1.DurabilityLocal || !w.s.Status.LastSuccessfulTime.Time.Equal(w.now) {
		t.Errorf("%+v", w.s.Status)
	}
}

// A pass that made a run and came no further is followed by one that knows it.
func TestNoRunIsMadeTwice(t *testing.T) {
	w := newWorld(t)
	w.at("2026-03-01T12:00:00Z")
	before := w.s.Status.DeepCopy()
	w.at("2026-03-02T02:30:00Z")
	w.s.Status = *before
	if step := w.at("2026-03-02T02:30:05Z"); step.Create != nil || w.s.Status.LastScheduleTime == nil {
		t.Errorf("%+v", step)
	}
	if w.names() != name(t, "2026-03-02T02:30:00Z") {
		t.Error(w.names())
	}
}

func TestOneAtATime(t *testing.T) {
	w := newWorld(t)
	w.at("2026-03-02T02:30:00Z")
	if step := w.at("2026-03-03T02:30:00Z"); step.Create != nil {
		t.Fatalf("%+v", step.Create)
	}
	w.wants(v1alpha1.ConditionOnTime, "False PreviousRunning")
	w.wants(v1alpha1.ConditionReady, "True Ready")
	w.at("2026-03-05T09:00:00Z")
	w.ends("Succeeded")
	// Three were due since; only the latest is made up.
	step := w.at("2026-03-05T09:00:00Z")
	if step.Create == nil || step.Create.Name != name(t, "2026-03-05T02:30:00Z") || step.told() != EventCreated+" "+EventMissed {
		t.Fatalf("%+v", step)
	}
	if message := step.Events[1].Message; message != "the run due at 2026-03-05T02:30:00Z is made up; 2 before it are not" {
		t.Error(message)
	}
	w.wants(v1alpha1.ConditionOnTime, "True OnTime")
}

func TestTooLate(t *testing.T) {
	w := newWorld(t, func(s *v1alpha1.PgScheduledBenchmarkSpec) { s.StartingDeadlineSeconds = new(int64(3600)) })
	w.at("2026-03-02T02:30:00Z")
	// While the one before runs it waits, and looks again when it will be too late.
	if step := w.at("2026-03-03T02:30:00Z"); step.After != time.Hour+time.Second {
		t.Errorf("after %s", step.After)
	}
	step := w.at("2026-03-03T03:30:01Z")
	if step.Create != nil || step.told() != EventMissed {
		t.Fatalf("%+v", step)
	}
	w.wants(v1alpha1.ConditionOnTime, "False MissedSchedule")
	w.ends("Succeeded")
	if step := w.at("2026-03-03T04:00:00Z"); step.Create != nil || len(step.Events) > 0 {
		t.Errorf("%+v", step)
	}
	w.wants(v1alpha1.ConditionOnTime, "False MissedSchedule")
	if step := w.at("2026-03-04T03:00:00Z"); step.Create == nil {
		t.Error("a run half an hour late is not made up")
	}
	w.wants(v1alpha1.ConditionOnTime, "True OnTime")
}

func TestAfterYearsOneRunIsMadeUp(t *testing.T) {
	w := newWorld(t, func(s *v1alpha1.PgScheduledBenchmarkSpec) { s.Schedule = "* * * * *" })
	w.at("2026-03-01T12:00:00Z")
	step := w.at("2036-03-01T12:00:30Z")
	if step.Create == nil || step.Create.Annotations[naming.AnnotationScheduledAt] != "2036-03-01T12:00:00Z" || !strings.HasSuffix(step.Events[1].Message, "; more than 99 before it are not") {
		t.Errorf("%+v", step)
	}
	if len(w.all) != 1 {
		t.Errorf("%d runs", len(w.all))
	}
}

func TestSuspended(t *testing.T) {
	w := newWorld(t)
	w.at("2026-03-02T02:30:00Z")
	w.s.Spec.Suspend, w.s.Generation = true, 2
	if step := w.at("2026-03-02T03:00:00Z"); step.After != 0 || w.s.Status.NextScheduleTime != nil {
		t.Errorf("%+v", step)
	}
	w.wants(v1alpha1.ConditionScheduled, "False Suspended")
	w.wants(v1alpha1.ConditionReady, "True Ready")
	w.ends("Succeeded")
	w.at("2026-03-05T12:00:00Z")
	w.s.Spec.Suspend, w.s.Generation = false, 3
	if step := w.at("2026-03-05T12:00:01Z"); step.Create != nil || len(step.Events) > 0 || !w.s.Status.LastSkippedTime.Time.Equal(moment(t, "2026-03-05T02:30:00Z")) {
		t.Errorf("what was due while it was suspended is made up: %+v", step)
	}
	w.wants(v1alpha1.ConditionOnTime, "True OnTime")
	if step := w.at("2026-03-06T02:30:00Z"); step.Create == nil {
		t.Error("it does not go on")
	}
}

func TestAChangeCountsFromThenOn(t *testing.T) {
	w := newWorld(t)
	w.at("2026-03-02T02:30:00Z")
	w.ends("Succeeded")
	w.s.Spec.Schedule, w.s.Generation = "@hourly", 2
	if step := w.at("2026-03-02T10:20:00Z"); step.Create != nil {
		t.Errorf("it makes up what another schedule would have run: %+v", step.Create)
	}
	if step := w.at("2026-03-02T11:00:00Z"); step.Create == nil {
		t.Error("it does not go on")
	}
}

func TestInvalidSchedule(t *testing.T) {
	w := newWorld(t, func(s *v1alpha1.PgScheduledBenchmarkSpec) { s.Schedule = "61 * * * *" })
	if step := w.at("2026-03-02T02:30:00Z"); step.Create != nil || step.After != 0 {
		t.Errorf("%+v", step)
	}
	w.wants(v1alpha1.ConditionStalled, "True InvalidSpec")
	w.s.Spec.Schedule, w.s.Generation = "0 0 31 2 *", 2
	w.at("2026-03-02T02:31:00Z")
	w.wants(v1alpha1.ConditionStalled, "True InvalidSpec")
	w.s.Spec.Schedule, w.s.Generation = "0 * * * *", 3
	w.at("2026-03-02T03:30:00Z")
	w.wants(v1alpha1.ConditionStalled, "")
	if len(w.all) != 0 {
		t.Error(w.names())
	}
}

// A run that the API server rejects is reported, and not tried again before the next
// time.
func TestRefused(t *testing.T) {
	w := newWorld(t)
	w.at("2026-03-01T12:00:00Z")
	w.now = moment(t, "2026-03-02T02:30:00Z")
	if step := w.pass("exceeded quota"); step.Create != nil || step.told() != EventRejected {
		t.Fatalf("%+v", step)
	}
	if step := w.at("2026-03-02T02:31:00Z"); step.Create != nil || len(step.Events) > 0 {
		t.Errorf("%+v", step)
	}
	w.wants(v1alpha1.ConditionOnTime, "False RejectedByAPIServer")
	w.wants(v1alpha1.ConditionStalled, "True RejectedByAPIServer")
	if step := w.at("2026-03-03T02:30:00Z"); step.Create == nil {
		t.Error("the next time is not tried")
	}
	w.wants(v1alpha1.ConditionStalled, "")
}

// night after night, each run ends with a condition of its gate.
func (w *world) nights(gates ...metav1.ConditionStatus) {
	w.t.Helper()
	for i, gate := range gates {
		day := moment(w.t, "2026-03-02T02:30:00Z").Add(time.Duration(i) * 24 * time.Hour)
		if step := w.at(day.Format(time.RFC3339)); step.Create == nil {
			w.t.Fatalf("no run at %s: %+v", day, w.s.Status)
		}
		switch gate {
		case "":
			w.ends("Failed")
		case metav1.ConditionTrue:
			w.ends("Succeeded", metav1.Condition{Type: v1alpha1.ConditionNotRegressed, Status: gate, Reason: v1alpha1.ReasonNotRegressed})
		case metav1.ConditionFalse:
			w.ends("Succeeded", metav1.Condition{Type: v1alpha1.ConditionNotRegressed, Status: gate, Reason: v1alpha1.ReasonRegressed})
		default:
			b := w.ends("Succeeded", metav1.Condition{Type: v1alpha1.ConditionNotRegressed, Status: unknown, Reason: v1alpha1.ReasonNotComparable})
			switch gate {
			case rejected:
				b.Status.Matrix = figures(0, 0)
			case halfRejected:
				b.Status.Matrix = figures(3, 2)
			}
		}
		w.at(day.Add(time.Hour).Format(time.RFC3339))
	}
}

const (
	yes     = metav1.ConditionTrue
	no      = metav1.ConditionFalse
	unknown = metav1.ConditionUnknown
	failed  = metav1.ConditionStatus("")
	// Gates are Unknown after nights whose runs are rejected, all or those of a variant.
	rejected     = metav1.ConditionStatus("rejected")
	halfRejected = metav1.ConditionStatus("half rejected")
)

func gated(s *v1alpha1.PgScheduledBenchmarkSpec) {
	s.Gate = &v1alpha1.ScheduleGate{Threshold: 7, Confidence: 90}
}

func TestBaselineIsTheLastGoodRun(t *testing.T) {
	for _, tc := range []struct {
		name   string
		nights []metav1.ConditionStatus
		want   string // day of the baseline
	}{
		{"first", nil, ""},
		{"one before", []metav1.ConditionStatus{unknown}, "02"},
		{"after failures", []metav1.ConditionStatus{yes, failed, failed}, "02"},
		{"a regression is told until it is gone", []metav1.ConditionStatus{yes, yes, no, no, no, no, no, no}, "03"},
		{"after it is gone", []metav1.ConditionStatus{yes, no, yes}, "04"},
		{"other variants begin again", []metav1.ConditionStatus{yes, unknown}, "03"},
		{"a rejected night after a regression", []metav1.ConditionStatus{yes, no, rejected}, "02"},
		{"a partly rejected night after a regression", []metav1.ConditionStatus{yes, no, halfRejected, rejected}, "02"},
		{"a regression after a rejected night", []metav1.ConditionStatus{yes, rejected, no, no, no, no}, "02"},
		{"a first night without figures", []metav1.ConditionStatus{rejected}, "02"},
		{"a variant that never has figures", []metav1.ConditionStatus{halfRejected, halfRejected, no, rejected}, "03"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t, gated)
			w.at("2026-03-01T12:00:00Z")
			w.nights(tc.nights...)
			want := ""
			if tc.want != "" {
				want = name(t, "2026-03-"+tc.want+"T02:30:00Z")
			}
			if w.s.Status.Baseline != want {
				t.Fatalf("baseline %q, want %q", w.s.Status.Baseline, want)
			}
			step := w.at(moment(t, "2026-03-02T02:30:00Z").Add(time.Duration(len(tc.nights)) * 24 * time.Hour).Format(time.RFC3339))
			gate := step.Create.Spec.Gate
			if (gate == nil) != (want == "") || gate != nil && (gate.Baseline != want || gate.Threshold != 7 || gate.Confidence != 90) {
				t.Errorf("gate %+v", gate)
			}
		})
	}
}

func TestBaselineByName(t *testing.T) {
	w := newWorld(t, gated, func(s *v1alpha1.PgScheduledBenchmarkSpec) { s.Gate.Baseline = "golden" })
	if step := w.at("2026-03-02T02:30:00Z"); step.Create.Spec.Gate.Baseline != "golden" {
		t.Errorf("%+v", step.Create.Spec.Gate)
	}
}

func TestRegressionIsToldOnce(t *testing.T) {
	w := newWorld(t, gated)
	w.nights(yes)
	w.at("2026-03-03T02:30:00Z")
	b := w.ends("Succeeded")
	if step := w.at("2026-03-03T03:00:00Z"); len(step.Events) > 0 {
		t.Errorf("%+v", step.Events)
	}
	b.Status.Conditions = append(b.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionNotRegressed, Status: no, Reason: v1alpha1.ReasonRegressed})
	if step := w.at("2026-03-03T03:01:00Z"); step.told() != v1alpha1.ReasonRegressed {
		t.Errorf("%+v", step.Events)
	}
	if step := w.at("2026-03-03T03:02:00Z"); len(step.Events) > 0 {
		t.Errorf("%+v", step.Events)
	}
	w.wants(v1alpha1.ConditionNotRegressed, "False Regressed")
	w.wants(v1alpha1.ConditionReady, "True Ready")
}

func moment(t testing.TB, text string) time.Time {
	t.Helper()
	if text == "" {
		return time.Time{}
	}
	out, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
