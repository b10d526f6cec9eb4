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

// guard watches free space of each cluster that the benchmark writes to: the measured one, and
// the one that it follows.
type guard struct {
	*execution
	sides []*side
}

func (r *execution) guard() *guard {
	g := &guard{execution: r}
	if r.Spec.Space != nil {
		g.sides = append(g.sides, &side{db: r.db, observer: r.Observer, space: *r.Spec.Space})
	}
	if r.source != nil && r.Spec.Source.Space != nil {
		g.sides = append(g.sides, &side{db: r.source, space: *r.Spec.Source.Space, cluster: r.Spec.Source.Cluster})
	}
	return g
}

// close the connections, also once ctx has ended.
func (g *guard) close(ctx context.Context) {
	for _, s := range g.sides {
		s.close(ctx)
	}
}

// side is one cluster whose free space is watched: by the observer, or else on one connection
// of its own. A script may use up all others.
type side struct {
	db *database
	// observer of the measured cluster; nil of another one, and without a superuser.
	observer Observer
	space    spec.Space
	// cluster by name; empty for the measured one.
	cluster string
	conn    *pgx.Conn
}

func (s *side) close(ctx context.Context) {
	if s.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	_ = s.conn.Close(ctx)
	s.conn = nil
}

// with calls use with the connection, which is replaced after an error.
func (s *side) with(ctx context.Context, use func(context.Context, *pgx.Conn) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if s.conn == nil {
		if s.conn, err = pgx.ConnectConfig(ctx, s.db.watcher()); err != nil {
			return fmt.Errorf("connect: %w", err)
		}
	}
	if err = use(ctx, s.conn); err != nil {
		s.close(ctx)
	}
	return err
}

func (s *side) used(ctx context.Context) (used spec.Used, err error) {
	if s.observer != nil {
		ctx, cancel := context.WithTimeout(ctx, lookTimeout)
		defer cancel()
		return s.observer.Used(ctx)
	}
	err = s.with(ctx, func(ctx context.Context, c *pgx.Conn) error {
		used, err = observer.ReadUsed(ctx, c)
		return err
	})
	return used, err
}

// end the sessions of the benchmark's role.
func (s *side) end(ctx context.Context) error {
	if s.observer != nil {
		return s.observer.End(ctx)
	}
	return s.with(ctx, func(ctx context.Context, c *pgx.Conn) error {
		return observer.EndSessions(ctx, c, s.db.config.User)
	})
}

// named is a text about the side, with its cluster where that is not the measured one.
func (s *side) named(text string) string {
	if text == "" || s.cluster == "" {
		return text
	}
	return text + " (PgStorageCluster " + s.cluster + ", which is followed)"
}

// lacks says why the tables do not fit beside what is used already, or "".
func (g *guard) lacks(ctx context.Context) (string, error) {
	for _, s := range g.sides {
		used, err := s.used(ctx)
		if err != nil {
			return "", fmt.Errorf("free space of the volumes: %w", err)
		}
		if lacks := s.space.Lacks(g.Spec.Pgbench.Scale, used); lacks != "" {
			return s.named(lacks), nil
		}
	}
	return "", nil
}

// look at all sides: low says that the free space of one is low, and near that it is worth a
// closer look.
func (g *guard) look(ctx context.Context) (low string, near bool, err error) {
	for _, s := range g.sides {
		used, err := s.used(ctx)
		if err != nil {
			return "", false, err
		}
		if text := s.space.Low(used); text != "" {
			return s.named(text), true, nil
		}
		near = near || s.space.Near(used)
	}
	return "", near, nil
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
		why, near, err := g.look(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			seen = g.Clock.Now()
		} else if g.Clock.Since(seen) > blindFor {
			why = fmt.Sprintf("free space of the volumes could not be read for %s: %v", blindFor, err)
		}
		if why != "" {
			stop(&Failure{Reason: ReasonFreeSpaceLow, Err: errors.New(why)})
			g.end(context.WithoutCancel(ctx))
			return
		}
		pause = lookEvery
		if near {
			pause = lookCloser
		}
	}
}

// end the sessions of the benchmark's role.
func (g *guard) end(ctx context.Context) {
	for _, s := range g.sides {
		if err := s.end(ctx); err != nil {
			g.Log.Warn("the sessions of the benchmark were not ended", "error", err)
		}
	}
}

// reclaim drops all that the benchmark's role has made in its database, at once: the
// manager drops the database itself once this Job is gone.
func (g *guard) reclaim(ctx context.Context) {
	g.end(ctx)
	config := g.loader().config.Copy()
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
	g := r.guard()
	if len(g.sides) == 0 {
		return work(ctx)
	}
	defer g.close(ctx)
	lacks, err := g.lacks(ctx)
	if err != nil {
		return err
	}
	if lacks != "" {
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
