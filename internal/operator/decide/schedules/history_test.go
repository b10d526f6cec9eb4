package schedules

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

func semanticEqual(a, b any) bool { return equality.Semantic.DeepEqual(a, b) }

// days of the runs that are left.
func (w *world) days() string {
	out := ""
	for _, b := range w.all {
		if at := b.Annotations["pgstorage.dev/scheduled-at"]; at != "" {
			out += at[8:10] + " "
		}
	}
	return out
}

func TestHistoryLimits(t *testing.T) {
	for _, tc := range []struct {
		name    string
		changes []func(*v1alpha1.PgScheduledBenchmarkSpec)
		nights  []metav1.ConditionStatus
		want    string
	}{
		{"within", nil, []metav1.ConditionStatus{yes, yes, failed}, "02 03 04 "},
		{"beyond", nil, []metav1.ConditionStatus{yes, yes, failed, yes, yes, failed}, "03 05 06 07 "},
		{"other limits", []func(*v1alpha1.PgScheduledBenchmarkSpec){func(s *v1alpha1.PgScheduledBenchmarkSpec) {
			s.SuccessfulHistoryLimit, s.FailedHistoryLimit = new(int32(1)), new(int32(0))
		}}, []metav1.ConditionStatus{yes, failed, yes, failed}, "04 "},
		{"the baseline stays", []func(*v1alpha1.PgScheduledBenchmarkSpec){gated}, []metav1.ConditionStatus{yes, yes, no, no, no, no}, "03 05 06 07 "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t, tc.changes...)
			w.at("2026-03-01T12:00:00Z")
			w.nights(tc.nights...)
			if got := w.days(); got != tc.want {
				t.Errorf("left %s, want %s", got, tc.want)
			}
		})
	}
}

// A baseline by name is kept though it is a run of the schedule beyond its limits.
func TestNamedBaselineStays(t *testing.T) {
	golden := name(t, "2026-03-02T02:30:00Z")
	w := newWorld(t, gated, func(s *v1alpha1.PgScheduledBenchmarkSpec) { s.Gate.Baseline = golden })
	w.at("2026-03-01T12:00:00Z")
	w.nights(yes, yes, yes, yes, yes)
	if got := w.days(); got != "02 04 05 06 " {
		t.Error(got)
	}
}

// A gate that reads a run as its baseline has it until it has decided.
func TestABaselineOfSomebodyElseStaysUntilItWasRead(t *testing.T) {
	w := newWorld(t)
	w.at("2026-03-01T12:00:00Z")
	w.nights(yes)
	change := &v1alpha1.PgBenchmark{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "change"}}
	change.Spec.Gate = &v1alpha1.BenchmarkGate{Baseline: name(t, "2026-03-02T02:30:00Z")}
	change.Status.Phase = "Running"
	w.all = append(w.all, change)
	for _, day := range []string{"03", "04", "05", "06"} {
		w.at("2026-03-" + day + "T02:30:00Z")
		w.ends("Succeeded")
	}
	w.at("2026-03-06T03:00:00Z")
	if got := w.days(); got != "02 04 05 06 " {
		t.Error(got)
	}
	change.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionNotRegressed, Status: yes, Reason: v1alpha1.ReasonNotRegressed}}
	w.at("2026-03-06T03:01:00Z")
	if got := w.days(); got != "04 05 06 " {
		t.Error(got)
	}
	if !slices.Contains(w.all, change) {
		t.Error("what is not the schedule's is gone")
	}
}

// With a run that found damage would go the evidence.
func TestDamageStaysAndIsTold(t *testing.T) {
	w := newWorld(t)
	w.at("2026-03-02T02:30:00Z")
	b := w.ends("Failed", metav1.Condition{Type: v1alpha1.ConditionIntegrityVerified, Status: no, Reason: v1alpha1.ReasonIntegrityFailed})
	b.Status.Conditions[0].Reason = v1alpha1.ReasonIntegrityFailed
	w.at("2026-03-02T03:00:00Z")
	w.wants(v1alpha1.ConditionLastRunSucceeded, "False IntegrityFailed")
	w.wants(v1alpha1.ConditionStalled, "True IntegrityFailed")
	for _, day := range []string{"03", "04"} {
		w.at("2026-03-" + day + "T02:30:00Z")
		w.ends("Failed")
	}
	w.at("2026-03-04T03:00:00Z")
	if got := w.days(); got != "02 04 " {
		t.Error(got)
	}
	w.wants(v1alpha1.ConditionStalled, "")
}

// What the status said of runs that are gone stays.
func TestResultsOutliveTheirRuns(t *testing.T) {
	w := newWorld(t, gated)
	w.nights(yes)
	before := w.s.Status.DeepCopy()
	w.all = nil
	w.at("2026-03-02T10:00:00Z")
	after := w.s.Status
	if !semanticEqual(before.LastResult, after.LastResult) || !semanticEqual(before.LastSuccessfulTime, after.LastSuccessfulTime) || after.Baseline != "" {
		t.Errorf("%+v", after)
	}
	w.wants(v1alpha1.ConditionLastRunSucceeded, "True Succeeded")
	w.wants(v1alpha1.ConditionNotRegressed, "True NotRegressed")
}
