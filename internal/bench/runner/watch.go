package runner

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/internal/bench/disturbance"
	"github.com/pgstorage/pgstorage/internal/bench/runner/machine"
)

const (
	// looksInRun is about how often a run is looked at, at most every mostOften and at least
	// every leastOften. A look is three queries and some small files, so its cost does not show
	// in the rate.
	looksInRun = 60
	mostOften  = 5 * time.Second
	leastOften = 30 * time.Second
	// noticedShare of the time between two looks that a quota or a hypervisor must take.
	noticedShare = 0.01
)

// activity of the server at one moment. The counters are since Started.
type activity struct {
	Started time.Time
	// Checkpoints that began, and Buffers that they wrote.
	Checkpoints, Buffers int64
	Vacuuming, Backups   []string
}

func activityQuery(major int) string {
	if major >= checkpointerSince {
		return `SELECT pg_postmaster_start_time(), num_timed + num_requested, buffers_written FROM pg_stat_checkpointer`
	}
	return `SELECT pg_postmaster_start_time(), checkpoints_timed + checkpoints_req, buffers_checkpoint FROM pg_stat_bgwriter`
}

// activity as the benchmark's own role may see it.
func (d *database) activity(ctx context.Context, major int) (*activity, error) {
	var a activity
	err := session(ctx, d.config, queryTimeout, func(ctx context.Context, c *pgx.Conn) error {
		if err := c.QueryRow(ctx, activityQuery(major)).Scan(&a.Started, &a.Checkpoints, &a.Buffers); err != nil {
			return fmt.Errorf("checkpoints: %w", err)
		}
		return underWay(ctx, c, &a.Vacuuming, &a.Backups)
	})
	if err != nil {
		return nil, fmt.Errorf("activity of the server: %w", err)
	}
	return &a, nil
}

// moment of a run.
type moment struct {
	// since the run began.
	since time.Duration
	observed
	// activity of the server; nil if it did not report it.
	activity *activity
}

// watchEvery returns the time between two looks at a run of a duration; zero is a run that ends by its
// transactions.
func watchEvery(duration time.Duration) time.Duration {
	return min(leastOften, max(mostOften, duration/looksInRun))
}

// watch the server and its machine until stop, which returns what was seen. A look that fails
// leaves a gap and does not fail the run.
func (r *execution) watch(ctx context.Context, every time.Duration) (stop func() []moment) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan []moment, 1)
	began := r.Clock.Now()
	go func() {
		var seen []moment
		for {
			m := moment{since: r.Clock.Since(began)}
			r.lookDuring(ctx, &m)
			if ctx.Err() == nil {
				seen = append(seen, m)
			}
			select {
			case <-r.Clock.After(every):
			case <-ctx.Done():
				done <- seen
				return
			}
		}
	}()
	return func() []moment {
		cancel()
		return <-done
	}
}

// lookDuring a run at its machines and its server.
func (r *execution) lookDuring(ctx context.Context, m *moment) {
	m.own = r.lookAtOwn()
	texts, _, err := r.files(ctx)
	if err == nil {
		m.server = machine.Read(texts)
		m.activity, err = r.db.activity(ctx, r.server.Major)
	}
	if err != nil && ctx.Err() == nil {
		r.Log.Warn("the server was not looked at during the run", "error", err)
	}
}

// lastMoment is the end of a run, from what was observed before and after it.
func (r *execution) lastMoment(ctx context.Context, before, after observed) moment {
	last := moment{since: after.at.Sub(before.at), observed: after}
	var err error
	if last.activity, err = r.db.activity(ctx, r.server.Major); err != nil {
		r.Log.Warn("the server was not looked at after the run", "error", err)
	}
	return last
}

// seen are the events between the moments of a run.
func seen(moments []moment) []disturbance.Event {
	var events timeline
	for i, m := range moments[min(1, len(moments)):] {
		events.between(moments[i], m)
	}
	return disturbance.Ordered(events)
}

// timeline of events, in which an event that goes on is one.
type timeline []disturbance.Event

func (t *timeline) add(kind disturbance.Kind, from, to time.Duration, message string) {
	for i := range *t {
		if e := &(*t)[i]; e.Kind == kind && e.Message == message && e.To == from {
			e.To = to
			return
		}
	}
	*t = append(*t, disturbance.Event{Kind: kind, From: from, To: to, Message: message})
}

// between adds what happened between two moments.
func (t *timeline) between(a, b moment) {
	if b.since <= a.since {
		return
	}
	t.ofMachines(a, b)
	if a.activity != nil && b.activity != nil && a.activity.Started.Equal(b.activity.Started) {
		t.ofServer(a, b)
	}
}

func (t *timeline) ofMachines(a, b moment) {
	// An event says that a pod waited; who declared its quota is of no interest here.
	pods, nodes := between(a.observed, b.observed, nil)
	for _, p := range pods {
		if p.ThrottledTime.Seconds() >= noticedShare*(b.since-a.since).Seconds() {
			t.add(disturbance.CPUQuota, a.since, b.since, fmt.Sprintf("pod %s waited for its CPU quota", p.Name))
		}
	}
	for _, n := range nodes {
		if n.Steal != nil && *n.Steal >= noticedShare {
			t.add(disturbance.CPUSteal, a.since, b.since, fmt.Sprintf("the hypervisor gave CPU time of node %s to other machines", n.Name))
		}
	}
}

func (t *timeline) ofServer(a, b moment) {
	if b.activity.Checkpoints > a.activity.Checkpoints || b.activity.Buffers > a.activity.Buffers {
		t.add(disturbance.Checkpoint, a.since, b.since, "a checkpoint was under way")
	}
	for _, table := range b.activity.Vacuuming {
		t.add(disturbance.Vacuum, a.since, b.since, fmt.Sprintf("%s was being vacuumed", table))
	}
	for _, backup := range b.activity.Backups {
		t.add(disturbance.Backup, a.since, b.since, fmt.Sprintf("a backup was under way: %s", backup))
	}
}
