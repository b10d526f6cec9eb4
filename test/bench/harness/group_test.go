//go:build linux

package harness

import (
	"maps"
	"slices"
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/test/bench/measure"
)

func TestRunsAreComparedWithinTheirGroup(t *testing.T) {
	var runs []measure.Sample
	for round := range 2 {
		for _, clients := range []int{16, 1} {
			for _, durable := range []bool{false, true} {
				for _, name := range []string{"a", "b"} {
					runs = append(runs, measure.Sample{Round: round, Configuration: name, Durable: durable, Clients: clients, TPS: float64(10*round + clients)})
				}
			}
		}
	}
	groups := Groups(runs)
	if want := []Group{{true, 1}, {true, 16}, {false, 1}, {false, 16}}; !slices.Equal(groups, want) {
		t.Fatalf("Groups() = %v, want %v", groups, want)
	}
	got := ByRound(Select(runs, groups[1], "b"))
	if want := map[int]float64{0: 16, 1: 26}; !maps.Equal(got, want) {
		t.Errorf("TPS by round are %v, want %v", got, want)
	}
	if g := groups[0]; g.Commit() != "durable" || g.Tier() != v1alpha1.DurabilityLocal {
		t.Errorf("%+v is %s, %s", g, g.Commit(), g.Tier())
	}
	if g := groups[2]; g.Commit() != "relaxed" || g.Tier() != v1alpha1.DurabilityAsync {
		t.Errorf("%+v is %s, %s", g, g.Commit(), g.Tier())
	}
}
