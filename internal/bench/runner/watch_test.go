package runner

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/pgstorage/pgstorage/internal/bench/disturbance"
	"github.com/pgstorage/pgstorage/internal/bench/runner/machine"
)

func TestDisturbancesBetweenLooksAreMergedToEvents(t *testing.T) {
	started := time.Unix(1000, 0)
	throttled := func(total time.Duration) observed {
		return observed{server: machine.Snapshot{Host: "shop-1", Boot: "b", Throttling: &machine.Throttling{Periods: 100, Time: total}}}
	}
	at := func(seconds int, waited time.Duration, a *activity) moment {
		return moment{since: time.Duration(seconds) * time.Second, observed: throttled(waited), activity: a}
	}
	moments := []moment{
		at(0, 0, &activity{Started: started, Checkpoints: 3, Buffers: 10}),
		at(5, 0, &activity{Started: started, Checkpoints: 4, Buffers: 10}),
		at(10, time.Second, &activity{Started: started, Checkpoints: 4, Buffers: 90, Vacuuming: []string{"pgbench_accounts"}}),
		at(15, 2*time.Second, &activity{Started: started, Checkpoints: 4, Buffers: 90}),
		at(20, 2*time.Second, nil),
		// A server that restarted counts from zero.
		at(25, 2*time.Second, &activity{Started: started.Add(time.Second), Checkpoints: 9, Buffers: 900}),
	}
	want := []disturbance.Event{
		{Kind: disturbance.Checkpoint, From: 0, To: 10 * time.Second, Message: "a checkpoint was under way"},
		{Kind: disturbance.CPUQuota, From: 5 * time.Second, To: 15 * time.Second, Message: "pod shop-1 waited for its CPU quota"},
		{Kind: disturbance.Vacuum, From: 5 * time.Second, To: 10 * time.Second, Message: "pgbench_accounts was being vacuumed"},
	}
	if diff := cmp.Diff(want, seen(moments)); diff != "" {
		t.Error(diff)
	}
	if got := seen(nil); len(got) > 0 {
		t.Errorf("of no looks: %+v", got)
	}
}

func TestLooksAreNotTooOften(t *testing.T) {
	for duration, want := range map[time.Duration]time.Duration{0: 5 * time.Second, time.Minute: 5 * time.Second, 10 * time.Minute: 10 * time.Second, 24 * time.Hour: 30 * time.Second} {
		if got := watchEvery(duration); got != want {
			t.Errorf("of a run of %v: every %v, want %v", duration, got, want)
		}
	}
}

// The looks are those at a real server, and stop with the run.
func TestWatchLooksAtTheServerUntilItIsStopped(t *testing.T) {
	p := sharedPostgres(t)
	p.database(t)
	db, err := openDatabase()
	if err != nil {
		t.Fatal(err)
	}
	r := &execution{Runner: &Runner{Clock: clock.RealClock{}, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}, db: db}
	if r.server, err = db.server(t.Context()); err != nil {
		t.Fatal(err)
	}
	var m moment
	if r.lookDuring(t.Context(), &m); m.activity == nil || m.activity.Started.IsZero() {
		t.Errorf("got %+v, want the server's activity", m.activity)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := r.watch(ctx, time.Hour)(); len(got) > 0 {
		t.Errorf("got %d looks after the end, want none", len(got))
	}
}
