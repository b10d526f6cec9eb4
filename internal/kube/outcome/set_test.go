package outcome

import (
	"slices"
	"testing"
)

func TestSetHasOneOutcomeOfEachConditionInTheOrderAdded(t *testing.T) {
	s := NewSet(DoneWith("A", "Fine", ""), WaitFor("B", "Slow", ""))
	s.Add(InvalidBecause("A", "Wrong", ""), DoneWith("C", "Fine", ""))
	want := Set{InvalidBecause("A", "Wrong", ""), WaitFor("B", "Slow", ""), DoneWith("C", "Fine", "")}
	if !slices.Equal(s, want) {
		t.Errorf("got %+v, want %+v", s, want)
	}
}

func TestGetFindsAnOutcomeByItsCondition(t *testing.T) {
	s := NewSet(DoneWith("A", "Fine", ""), WaitFor("B", "Slow", ""))
	if o, found := s.Get("B"); !found || o.Reason != "Slow" {
		t.Errorf("got %+v, %v; want B, true", o, found)
	}
	if o, found := s.Get("C"); found || o != (Outcome{}) {
		t.Errorf("got %+v, %v; want none, false", o, found)
	}
	if got := s.Reason("A") + s.Reason("C"); got != "Fine" {
		t.Errorf("reasons are %q, want %q", got, "Fine")
	}
}

func TestWorstIsTheFirstThatNeedsAUserElseTheFirstThatWaits(t *testing.T) {
	informative := InvalidBecause("I", "Told", "")
	informative.Informative = true
	for _, tc := range []struct {
		name string
		set  Set
		want string
	}{
		{"empty", nil, ""},
		{"all done", NewSet(DoneWith("A", "Fine", "")), ""},
		{"informative ones do not count", NewSet(informative), ""},
		{"the first of two that wait", NewSet(WaitFor("A", "Slow", ""), WaitFor("B", "Slower", "")), "Slow"},
		{"invalid before waiting", NewSet(WaitFor("A", "Slow", ""), InvalidBecause("B", "Wrong", "")), "Wrong"},
	} {
		worst, found := tc.set.Worst()
		if worst.Reason != tc.want || found != (tc.want != "") {
			t.Errorf("%s: got %q, %v; want %q", tc.name, worst.Reason, found, tc.want)
		}
	}
}
