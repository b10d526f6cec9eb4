package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/internal/bench/program"
	"github.com/pgstorage/pgstorage/internal/bench/runner/observer"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
)

// SourceConfig is how a role connects to the cluster that the measured one follows. Only host
// and certificate authority differ from those of the measured one in the environment. It is
// nil where the measured one follows none.
func SourceConfig() (*pgx.ConnConfig, error) {
	host := os.Getenv(spec.EnvSourceHost)
	if host == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	text := "host=" + host
	if authority := os.Getenv(spec.EnvSourceRootCert); authority != "" {
		text += " sslrootcert=" + authority
	}
	config, err := pgx.ParseConfig(text)
	if err != nil {
		return nil, fmt.Errorf("connection to the cluster that is followed: %w", err)
	}
	return config, nil
}

// openSource is the database on the cluster that the measured one follows; nil where it
// follows none.
func (r *execution) openSource() (*database, error) {
	if r.Spec.Source == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	config, err := SourceConfig()
	if err != nil {
		return nil, err
	}
	if config == nil {
		return nil, fmt.Errorf("the cluster follows %s, and the environment has no %s", r.Spec.Source.Cluster, spec.EnvSourceHost)
	}
	return &database{config: observer.Harden(config)}, nil
}

// loader is the database that takes the tables.
func (r *execution) loader() *database {
	if r.source != nil {
		return r.source
	}
	return r.db
}

// loading is the environment of the pgbench that fills the tables.
func (r *execution) loading() []string {
	if r.source == nil {
		return program.Environment()
	}
	return program.Environment("PGHOST="+os.Getenv(spec.EnvSourceHost), "PGSSLROOTCERT="+os.Getenv(spec.EnvSourceRootCert))
}

// replayEvery is the time between two looks at what a follower has replayed.
const replayEvery = time.Second

// awaitReplay waits until the measured server has replayed what its source has written up to
// now. It returns at once where the measured server follows none.
func (r *execution) awaitReplay(ctx context.Context, phase string, fraction float64) error {
	if r.source == nil {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.tableTimeout(), fmt.Errorf("it did not catch up within %s", r.tableTimeout()))
	defer cancel()
	written, err := r.source.written(ctx)
	if err != nil {
		return err
	}
	for {
		left, err := r.db.toReplay(ctx, written)
		if err != nil {
			return err
		}
		if left <= 0 {
			return nil
		}
		r.progress(phase, fraction, fmt.Sprintf("waits for the follower to replay %s of WAL", spec.Megabytes(left)))
		select {
		case <-ctx.Done():
			return fmt.Errorf("replay of WAL: %w", context.Cause(ctx))
		case <-r.Clock.After(replayEvery):
		}
	}
}

// written is the position of a record in the WAL after all that is in it. The record is flushed,
// so a follower receives it even where commits are not flushed at once.
func (d *database) written(ctx context.Context) (position string, err error) {
	err = session(ctx, d.config, queryTimeout, func(ctx context.Context, c *pgx.Conn) error {
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `SET LOCAL synchronous_commit = local`); err != nil {
				return err
			}
			return tx.QueryRow(ctx, `SELECT pg_logical_emit_message(true, 'pgstorage', '')::text`).Scan(&position)
		})
	})
	if err != nil {
		return "", fmt.Errorf("position of the WAL: %w", err)
	}
	return position, nil
}

// errNotFollowing is the refusal of a server that takes writes: its figures would be listed as
// those of a follower.
var errNotFollowing = errors.New("the server takes writes, and follows no other")

// toReplay is how many bytes of WAL the server has to replay up to a position.
func (d *database) toReplay(ctx context.Context, position string) (left int64, err error) {
	var replayed *int64
	err = session(ctx, d.config, queryTimeout, func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, `SELECT pg_wal_lsn_diff($1::text::pg_lsn, pg_last_wal_replay_lsn())::bigint`, position).Scan(&replayed)
	})
	switch {
	case err != nil:
		return 0, fmt.Errorf("position of the replay: %w", err)
	case replayed == nil:
		return 0, &Failure{Reason: ReasonDurabilityMismatch, Err: errNotFollowing}
	}
	return *replayed, nil
}
