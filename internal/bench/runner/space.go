package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/internal/bench/runner/observer"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
)

const (
	// lookEvery is the time between two looks at free space. lookCloser is that near the floor:
	// at 500 MB/s the floor of 128 MiB lasts for 250 ms.
	lookEvery  = time.Second
	lookCloser = 250 * time.Millisecond
	// lookTimeout bounds one look.
	lookTimeout = 10 * time.Second
	// blindFor is how long free space may stay unread before the benchmark stops.
	blindFor = 30 * time.Second
	// reclaimTimeout bounds dropping what the benchmark made.
	reclaimTimeout = time.Minute
)

// watcher is how the session connects that watches free space where there is no
// observer. What a script sets for its role or database does not reach it.
func (d *database) watcher() *pgx.ConnConfig {
	config := observer.Harden(d.config)
	config.RuntimeParams["statement_timeout"] = "0"
	return config
}

// guard watches free space, by the observer or else on one connection of its own, because
// a script may use up all others.
type guard struct {
	*execution
	conn *pgx.Conn
}

// close the connection, also once ctx has ended.
func (g *guard) close(ctx context.Context) {
	if g.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	_ = g.conn.Close(ctx)
	g.conn = nil
}

// with calls use with the connection, which is replaced after an error.
func (g *guard) with(ctx context.Context, use func(context.Context, *pgx.Conn) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if g.conn == nil {
		if g.conn, err = pgx.ConnectConfig(ctx, g.db.watcher()); err != nil {
			return fmt.Errorf("connect: %w", err)
		}
	}
	if err = use(ctx, g.conn); err != nil {
		g.close(ctx)
	}
	return err
}

func (g *guard) used(ctx context.Context) (used spec.Used, err error) {
	if g.Observer != nil {
		ctx, cancel := context.WithTimeout(ctx, lookTimeout)
		defer cancel()
		return g.Observer.Used(ctx)
	}
	err = g.with(ctx, func(ctx context.Context, c *pgx.Conn) error {
		used, err = observer.ReadUsed(ctx, c)
		return err
	})
	return used, err
}

// watch free space until ctx ends, and stop the benchmark where it is low or was not
// read for long.
func (g *guard) watch(ctx context.Context, stop context.CancelCauseFunc) {
	pause, seen := lookEvery, g.Clock.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.Clock.After(pause):
		}
		used, err := g.used(ctx)
		if ctx.Err() != nil {
			return
		}
		why := ""
		if err == nil {
			seen, why = g.Clock.Now(), g.Spec.Space.Low(used)
		} else if g.Clock.Since(seen) > blindFor {
			why = fmt.Sprintf("free space of the volumes could not be read for %s: %v", blindFor, err)
		}
		if why != "" {
			stop(&Failure{Reason: ReasonFreeSpaceLow, Err: errors.New(why)})
			g.end(context.WithoutCancel(ctx))
			return
		}
		pause = lookEvery
		if g.Spec.Space.Near(used) {
			pause = lookCloser
		}
	}
}

// end the sessions of the benchmark's role.
func (g *guard) end(ctx context.Context) {
	var err error
	if g.Observer != nil {
		err = g.Observer.End(ctx)
	} else {
		err = g.with(ctx, func(ctx context.Context, c *pgx.Conn) error {
			return observer.EndSessions(ctx, c, g.db.config.User)
		})
	}
	if err != nil {
		g.Log.Warn("the sessions of the benchmark were not ended", "error", err)
	}
}

// reclaim drops all that the benchmark's role has made in its database, at once: the
// manager drops the database itself once this Job is gone.
func (g *guard) reclaim(ctx context.Context) {
	g.end(ctx)
	config := g.db.config.Copy()
	config.RuntimeParams["statement_timeout"] = "0"
	err := session(ctx, config, reclaimTimeout, func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, `DROP OWNED BY CURRENT_USER CASCADE`)
		return err
	})
	if err != nil {
		g.Log.Warn("the tables of the benchmark were not dropped", "error", err)
	}
}

// within does work while free space is watched, on volumes whose capacity is known. It
// refuses tables that do not fit beside what is used already.
func (r *execution) within(ctx context.Context, work func(context.Context) error) error {
	if r.Spec.Space == nil {
		return work(ctx)
	}
	g := &guard{execution: r}
	defer g.close(ctx)
	used, err := g.used(ctx)
	if err != nil {
		return fmt.Errorf("free space of the volumes: %w", err)
	}
	if lacks := r.Spec.Space.Lacks(r.Spec.Pgbench.Scale, used); lacks != "" {
		return &Failure{Reason: ReasonNotEnoughSpace, Err: errors.New(lacks)}
	}
	working, stop := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		g.watch(working, stop)
	}()
	err = work(working)
	stop(nil)
	<-watched
	low, isLow := errors.AsType[*Failure](context.Cause(working))
	if !isLow && err != nil && full(err) {
		low, isLow = &Failure{Reason: ReasonFreeSpaceLow, Err: err}, true
	}
	if !isLow {
		return err
	}
	g.reclaim(context.WithoutCancel(ctx))
	return &Failure{Reason: low.Reason, Err: fmt.Errorf("%w; the benchmark was stopped and its tables are dropped; lower spec.pgbench.scale or duration, or raise spec.storage of the cluster", low.Err)}
}

// full says that a write failed because a volume was full (ENOSPC, in the words of the
// C library).
func full(err error) bool { return strings.Contains(err.Error(), "No space left on device") }
