package benchmarks

import (
	"math"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/record"
)

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// dropping is a run of 100 s that loses its caches after 40 s. It has the rate warm before,
// then cold, which grows by grows each second.
func dropping(warm, cold, grows float64) record.Run {
	run := record.Run{Start: began}
	for second := 1; second <= 100; second++ {
		rate := warm
		if second > 40 {
			rate = math.Min(warm, cold+grows*float64(second-41))
		}
		run.Seconds = append(run.Seconds, pgbench.Progress{At: time.Duration(second) * time.Second, TPS: rate})
	}
	return run
}

func TestRecoveryComparesTheSecondsBeforeAndAfter(t *testing.T) {
	got, err := RecoveryOf(dropping(1000, 100, 10), began.Add(40*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	// The seconds 42 to 51, and 71 to 100.
	want := Recovery{Dropped: 40 * time.Second, Warm: 1000, Cold: 155, Last: 545}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, at := range []time.Duration{-time.Second, 10 * time.Second, 95 * time.Second, time.Hour} {
		if _, err := RecoveryOf(dropping(1, 1, 0), began.Add(at)); err == nil {
			t.Errorf("there are figures of a run whose caches were dropped after %s", at)
		}
	}
}

func TestMarksOfTheComparison(t *testing.T) {
	recovery := func(warm, cold float64) Recovery { return Recovery{Warm: warm, Cold: cold} }
	disk := []Recovery{recovery(1000, 300), recovery(1000, 400), recovery(1000, 500)}
	for _, tc := range []struct {
		memory []Recovery
		gain   float64
		missed int
	}{
		{[]Recovery{recovery(1000, 990), recovery(1000, 950), recovery(1000, 200)}, 2.375, 0},
		{[]Recovery{recovery(1000, 850), recovery(1000, 880)}, 2.1625, 1},
		{[]Recovery{recovery(800, 700)}, 1.75, 2},
	} {
		c, err := Compare(tc.memory, disk)
		if err != nil || math.Abs(c.Gain-tc.gain) > 1e-9 || len(c.Missed()) != tc.missed || c.DiskKept != 0.4 {
			t.Errorf("%+v: %+v, missed %q, %v", tc.memory, c, c.Missed(), err)
		}
	}
	if _, err := Compare(nil, disk); err == nil {
		t.Error("nothing was compared")
	}
}
