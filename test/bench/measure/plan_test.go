//go:build linux

package measure

import (
	"slices"
	"testing"
)

func TestEachRoundMeasuresAllInAnotherOrder(t *testing.T) {
	configurations, clients := []string{"a", "b", "c"}, []int{1, 4}
	firsts := map[Sample]int{}
	for round := range 6 {
		turns := Turns(round, configurations, clients)
		if want := 2 * len(configurations) * len(clients); len(turns) != want {
			t.Fatalf("round %d has %d turns, want %d", round, len(turns), want)
		}
		for i, turn := range turns {
			if at := slices.Index(turns, turn); at != i || turn.Round != round {
				t.Errorf("round %d: turn %d is %+v, want one of this round and not that of turn %d", round, i, turn, at)
			}
		}
		first := turns[0]
		first.Round = 0
		firsts[first]++
	}
	if len(firsts) != 6 {
		t.Errorf("6 rounds begin with %d different turns, want 6: %v", len(firsts), firsts)
	}
}

func TestSustainedRateIncludesTheTimeToSettle(t *testing.T) {
	s := Sample{TPS: 100, Transactions: 1000, SettleSeconds: 10}
	if got := s.Sustained(); got != 50 {
		t.Errorf("Sustained() = %g, want 50", got)
	}
	if got := (Sample{}).Sustained(); got != 0 {
		t.Errorf("Sustained() of no transactions = %g, want 0", got)
	}
}
