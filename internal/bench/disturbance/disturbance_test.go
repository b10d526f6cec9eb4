package disturbance

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

func lines(rates ...float64) []pgbench.Progress {
	var out []pgbench.Progress
	for i, tps := range rates {
		out = append(out, pgbench.Progress{At: time.Duration(i+1) * time.Second, TPS: tps})
	}
	return out
}

func TestStallsAndLevelsOfTheRate(t *testing.T) {
	for name, tc := range map[string]struct {
		lines  []pgbench.Progress
		levels statistics.Segmentation
		want   []Event
	}{
		"steady":    {lines(100, 90, 110, 40), statistics.Segmentation{}, nil},
		"two":       {lines(100, 0, 5, 100, 100, 0, 100), statistics.Segmentation{}, []Event{{Kind: Stall, From: time.Second, To: 3 * time.Second}, {Kind: Stall, From: 5 * time.Second, To: 6 * time.Second}}},
		"the first": {lines(0, 100, 100), statistics.Segmentation{}, []Event{{Kind: Stall, From: 0, To: time.Second}}},
		"a level":   {lines(100, 100, 50, 50), statistics.Segmentation{Changes: []statistics.Change{{At: 2, Before: 100, After: 50}, {At: 9}}}, []Event{{Kind: Level, From: 2 * time.Second, To: 2 * time.Second}}},
		"nothing":   {nil, statistics.Segmentation{}, nil},
		"only zero": {lines(0, 0, 0), statistics.Segmentation{}, nil},
	} {
		got := OfRate(tc.lines, tc.levels)
		for i := range got {
			if got[i].Message == "" {
				t.Errorf("%s: event %d has no message", name, i)
			}
			got[i].Message = ""
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestEventsAreBounded(t *testing.T) {
	var many []Event
	for i := range 10 * Most {
		many = append(many, Event{Kind: Checkpoint, From: time.Duration(10*Most-i) * time.Second, To: time.Duration(10*Most-i)*time.Second + time.Duration(i)})
	}
	got := Ordered(many)
	if len(got) != Most {
		t.Fatalf("got %d events, want %d", len(got), Most)
	}
	for i := 1; i < len(got); i++ {
		if got[i].From < got[i-1].From || got[i].To-got[i].From < 9*Most {
			t.Errorf("event %d: got %+v, want the longest by time", i, got[i])
		}
	}
}
