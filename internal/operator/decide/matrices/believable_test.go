package matrices

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

func rejectedAs(reason string) []v1alpha1.BenchmarkFinding {
	return []v1alpha1.BenchmarkFinding{
		{Check: "Throttling", Verdict: "Rejected", Reason: reason},
		{Check: "Dataset", Verdict: "Caution", Reason: "DatasetInMemory"},
		{Check: "Flush", Verdict: "NotRun", Reason: "NotObserved"},
		{Check: "Repeats", Verdict: "Caution", Reason: "TooFewRepeats"},
	}
}

// A run that is rejected is shown with its reason, and is in no figure.
func TestARejectedRunDoesNotCount(t *testing.T) {
	w := newWorld(t, twoByTwo(nil))
	const variant = "durability=Async clients=8"
	w.tps = func(_ string, repeat int) float64 { return float64(1000 + repeat) }
	w.found = func(name string, repeat int) []v1alpha1.BenchmarkFinding {
		if name == variant && repeat == 5 {
			return rejectedAs(v1alpha1.ReasonPodThrottled)
		}
		return nil
	}
	w.toTheEnd()
	m := w.b.Status.Matrix
	if w.b.Status.Phase != "Succeeded" || m.Succeeded != 20 {
		t.Errorf("%s: %d succeeded", w.b.Status.Phase, m.Succeeded)
	}
	for _, v := range m.Variants {
		want := "1003.00"
		if v.Name == variant {
			want = "1002.50"
			last := v.Runs[len(v.Runs)-1]
			if diff := cmp.Diff([]string{"DatasetInMemory"}, last.Findings); last.Outcome != "Succeeded" || last.Rejected != v1alpha1.ReasonPodThrottled || last.TPS == "" || diff != "" {
				t.Errorf("%+v", last)
			}
		}
		if v.MedianTPS != want {
			t.Errorf("%s: median %s, want %s", v.Name, v.MedianTPS, want)
		}
	}
	c := w.condition(v1alpha1.ConditionBelievable)
	if c.Status != metav1.ConditionTrue || c.Reason != v1alpha1.ReasonCautions || !strings.Contains(c.Message, "1 of 20 runs are rejected") || !strings.Contains(c.Message, "DatasetInMemory") || strings.Contains(c.Message, "TooFewRepeats") {
		t.Errorf("%+v", c)
	}
}

// A run at the limit that its cluster declares counts, with a caution.
func TestARunAtADeclaredLimitCounts(t *testing.T) {
	w := newWorld(t, twoByTwo(nil))
	w.found = func(string, int) []v1alpha1.BenchmarkFinding {
		return []v1alpha1.BenchmarkFinding{{Check: "Throttling", Verdict: "Caution", Reason: "CPULimitReached"}}
	}
	w.toTheEnd()
	for _, v := range w.b.Status.Matrix.Variants {
		if v.MedianTPS == "" || v.Runs[0].Rejected != "" || len(v.Runs[0].Findings) != 1 {
			t.Errorf("%+v", v)
		}
	}
	c := w.condition(v1alpha1.ConditionBelievable)
	if c.Status != metav1.ConditionTrue || c.Reason != v1alpha1.ReasonCautions || !strings.Contains(c.Message, "the CPU limit that the cluster declares sets the rate") {
		t.Errorf("%+v", c)
	}
}

// A variant of rejected runs alone has no figure and no rank.
func TestAVariantOfRejectedRunsHasNoFigure(t *testing.T) {
	w := newWorld(t, twoByTwo(nil))
	const variant = "durability=Local clients=1"
	w.found = func(name string, _ int) []v1alpha1.BenchmarkFinding {
		if name == variant {
			return rejectedAs(v1alpha1.ReasonClientBound)
		}
		return nil
	}
	w.toTheEnd()
	for _, v := range w.b.Status.Matrix.Variants {
		if (v.MedianTPS == "") != (v.Name == variant) || len(v.Runs) != 5 {
			t.Errorf("%+v", v)
		}
	}
	for _, tier := range w.b.Status.Matrix.Tiers {
		for _, place := range tier.Ranking {
			if place.Variant == variant {
				t.Errorf("it has a rank: %+v", place)
			}
		}
	}
	c := w.condition(v1alpha1.ConditionBelievable)
	if c.Status != metav1.ConditionFalse || c.Reason != v1alpha1.ReasonClientBound || !strings.Contains(c.Message, "1 of 4 variants") || !strings.Contains(c.Message, variant) {
		t.Errorf("%+v", c)
	}
	if ready := w.condition(v1alpha1.ConditionReady); ready.Status != metav1.ConditionTrue {
		t.Errorf("a result is no failure: %+v", ready)
	}
}

func TestNothingFound(t *testing.T) {
	w := newWorld(t, twoByTwo(nil))
	w.toTheEnd()
	if c := w.condition(v1alpha1.ConditionBelievable); c.Status != metav1.ConditionTrue || c.Reason != v1alpha1.ReasonPartlyChecked {
		t.Errorf("%+v", c)
	}
	w = newWorld(t, twoByTwo(nil))
	w.tps = func(string, int) float64 { return -1 }
	w.toTheEnd()
	if c := w.condition(v1alpha1.ConditionBelievable); c.Status != metav1.ConditionUnknown || c.Reason != v1alpha1.ReasonNotRun {
		t.Errorf("%+v", c)
	}
}
