package runner

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// counters of the server at one moment, and what it does then.
type counters struct {
	// Started is when the server was: counters of another start do not subtract.
	Started time.Time
	// Changed rows of the benchmark's tables, and their Size with indexes, in bytes.
	Changed, Size int64
	SharedBuffers int64
	// Checkpoints, timed or requested.
	Checkpoints       int64
	CheckpointTimeout time.Duration
	// Autovacuums counts what autovacuum did, by table. Vacuuming and Backups are
	// under way.
	Autovacuums        map[string]int64
	Vacuuming, Backups []string

	WALSyncMethod string
	Settings      []setting
}

const countersQuery = `SELECT pg_postmaster_start_time(),
	(SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint FROM pg_stat_user_tables),
	(SELECT coalesce(sum(pg_total_relation_size(relid)), 0)::bigint FROM pg_stat_user_tables),
	pg_size_bytes(current_setting('shared_buffers')),
	extract(epoch FROM current_setting('checkpoint_timeout')::interval)::bigint,
	current_setting('wal_sync_method')`

const autovacuumsQuery = `SELECT relname::text, autovacuum_count + autoanalyze_count FROM pg_stat_user_tables
	WHERE autovacuum_count + autoanalyze_count > 0`

// vacuumingQuery names no table of another database, which may belong to another user.
const vacuumingQuery = `SELECT coalesce((SELECT relname::text FROM pg_class WHERE datname = current_database() AND oid = relid), 'a table of another database')
	FROM pg_stat_progress_vacuum`

const backupsQuery = `SELECT coalesce('base backup, ' || phase, 'base backup') FROM pg_stat_progress_basebackup`

// checkpointerSince is the first version that counts checkpoints on their own.
const checkpointerSince = 17

func checkpointsQuery(major int) string {
	if major >= checkpointerSince {
		return `SELECT num_timed + num_requested FROM pg_stat_checkpointer`
	}
	return `SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter`
}

// counters as the benchmark's own role may see them.
func (d *database) counters(ctx context.Context, major int) (*counters, error) {
	var found counters
	err := session(ctx, d.config, queryTimeout, func(ctx context.Context, c *pgx.Conn) error {
		var timeout int64
		if err := c.QueryRow(ctx, countersQuery).Scan(&found.Started, &found.Changed, &found.Size, &found.SharedBuffers, &timeout, &found.WALSyncMethod); err != nil {
			return err
		}
		found.CheckpointTimeout = time.Duration(timeout) * time.Second
		if err := c.QueryRow(ctx, checkpointsQuery(major)).Scan(&found.Checkpoints); err != nil {
			return fmt.Errorf("checkpoints: %w", err)
		}
		var err error
		if found.Settings, err = settingsOf(ctx, c); err != nil {
			return err
		}
		return found.disturbances(ctx, c)
	})
	if err != nil {
		return nil, fmt.Errorf("counters of the server: %w", err)
	}
	return &found, nil
}

// disturbances that are under way, or were counted.
func (found *counters) disturbances(ctx context.Context, c *pgx.Conn) error {
	rows, err := c.Query(ctx, autovacuumsQuery)
	if err != nil {
		return fmt.Errorf("autovacuum: %w", err)
	}
	found.Autovacuums = map[string]int64{}
	var table string
	var n int64
	if _, err = pgx.ForEachRow(rows, []any{&table, &n}, func() error {
		found.Autovacuums[table] += n
		return nil
	}); err != nil {
		return fmt.Errorf("autovacuum: %w", err)
	}
	return underWay(ctx, c, &found.Vacuuming, &found.Backups)
}

// underWay are the tables that are being vacuumed, and the backups.
func underWay(ctx context.Context, c *pgx.Conn, vacuuming, backups *[]string) error {
	for query, into := range map[string]*[]string{vacuumingQuery: vacuuming, backupsQuery: backups} {
		rows, err := c.Query(ctx, query)
		if err != nil {
			return fmt.Errorf("vacuum and backups: %w", err)
		}
		if *into, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			return fmt.Errorf("vacuum and backups: %w", err)
		}
	}
	return nil
}
