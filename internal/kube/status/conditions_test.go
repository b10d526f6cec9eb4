package status

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

var (
	early = metav1.NewTime(time.Unix(1000, 0))
	late  = metav1.NewTime(time.Unix(2000, 0))
)

func TestSummary(t *testing.T) {
	informative := outcome.InvalidBecause("Monitored", "NotOwned", "whose?")
	informative.Informative = true
	for _, tc := range []struct {
		name     string
		outcomes outcome.Set
		ready    metav1.ConditionStatus
		reason   string
		also     string
	}{
		{"all done", outcome.Set{outcome.DoneWith("A", "Fine", "")}, metav1.ConditionTrue, v1alpha1.ReasonReady, ""},
		{"one waits", outcome.Set{outcome.DoneWith("A", "Fine", ""), outcome.WaitFor("B", "Slow", "")}, metav1.ConditionFalse, "Slow", v1alpha1.ConditionReconciling},
		{"a person is named before a wait", outcome.Set{outcome.WaitFor("A", "Slow", ""), outcome.InvalidBecause("B", "Wrong", "")}, metav1.ConditionFalse, "Wrong", v1alpha1.ConditionStalled},
		{"the first of two", outcome.Set{outcome.WaitFor("A", "Slow", ""), outcome.WaitFor("B", "Slower", "")}, metav1.ConditionFalse, "Slow", v1alpha1.ConditionReconciling},
		{"informative ones do not count", outcome.Set{informative}, metav1.ConditionTrue, v1alpha1.ReasonReady, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Conditions(nil, 7, early, tc.outcomes)
			ready := meta.FindStatusCondition(got, v1alpha1.ConditionReady)
			if ready == nil || ready.Status != tc.ready || ready.Reason != tc.reason || ready.ObservedGeneration != 7 {
				t.Fatalf("Ready %+v", ready)
			}
			for _, kind := range []string{v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled} {
				if present := meta.IsStatusConditionTrue(got, kind); present != (kind == tc.also) {
					t.Errorf("%s present: %v", kind, present)
				}
			}
		})
	}
}

func TestTimesChangeWithStatusOnly(t *testing.T) {
	first := Conditions(nil, 1, early, outcome.Set{outcome.WaitFor("A", "Slow", "1 of 3")})
	second := Conditions(first, 2, late, outcome.Set{outcome.WaitFor("A", "Slow", "2 of 3")})
	for _, c := range second {
		if !c.LastTransitionTime.Equal(&early) {
			t.Errorf("%s moved without a change of status", c.Type)
		}
	}
	third := Conditions(second, 2, late, outcome.Set{outcome.DoneWith("A", "Fine", "")})
	for _, kind := range []string{"A", v1alpha1.ConditionReady} {
		if c := meta.FindStatusCondition(third, kind); !c.LastTransitionTime.Equal(&late) {
			t.Errorf("%s kept its time through a change", kind)
		}
	}
}

func TestConditionOfOneOutcome(t *testing.T) {
	o := outcome.WaitFor("A", "Slow", strings.Repeat("ä", maxMessage))
	first := Condition(nil, early, o)
	if first.Status != metav1.ConditionFalse || first.ObservedGeneration != 0 || len(first.Message) > maxMessage || !utf8.ValidString(first.Message) {
		t.Errorf("%s of generation %d with %d bytes", first.Status, first.ObservedGeneration, len(first.Message))
	}
	if again := Condition([]metav1.Condition{first}, late, o); again != first {
		t.Error("another condition of the same outcome")
	}
	if done := Condition([]metav1.Condition{first}, late, outcome.DoneWith("A", "Fine", "")); !done.LastTransitionTime.Equal(&late) {
		t.Error("it kept its time through a change")
	}
}

func TestUnknown(t *testing.T) {
	o := outcome.WaitFor("A", "NotReadBack", "")
	o.Unknown, o.Informative = true, true
	got := meta.FindStatusCondition(Conditions(nil, 1, early, outcome.Set{o}), "A")
	if got.Status != metav1.ConditionUnknown {
		t.Errorf("status %s", got.Status)
	}
}
