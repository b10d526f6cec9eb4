package observer

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
)

// usedQuery reads what is on the data volume and what bounds the WAL. pg_default is the
// tablespace on the data volume, with temporary files; others have their own volumes. Any role
// that connects to a database of pg_default may read its size.
const usedQuery = `SELECT pg_catalog.pg_tablespace_size('pg_default'::pg_catalog.name),
	pg_catalog.pg_size_bytes(pg_catalog.current_setting('max_wal_size')),
	pg_catalog.pg_size_bytes(pg_catalog.current_setting('wal_keep_size')),
	pg_catalog.has_function_privilege('pg_catalog.pg_ls_waldir()', 'EXECUTE')`

const walQuery = `SELECT coalesce(pg_catalog.sum(size), 0)::pg_catalog.int8 FROM pg_catalog.pg_ls_waldir()`

// endQuery ends the sessions of a role. A session that runs a long statement does not
// notice that its client is gone.
const endQuery = `SELECT pg_catalog.count(pg_catalog.pg_terminate_backend(pid)) FROM pg_catalog.pg_stat_activity
	WHERE usename OPERATOR(pg_catalog.=) $1::pg_catalog.name AND pid OPERATOR(pg_catalog.<>) pg_catalog.pg_backend_pid()`

// Used is what the server takes of its volumes. It keeps its connection: a script may
// use up all others.
func (o *Observer) Used(ctx context.Context) (used spec.Used, err error) {
	err = o.held(ctx, func(ctx context.Context, c *pgx.Conn) error {
		used, err = ReadUsed(ctx, c)
		return err
	})
	return used, err
}

// End the sessions of the role that owns the benchmark's database.
func (o *Observer) End(ctx context.Context) error {
	return o.held(ctx, func(ctx context.Context, c *pgx.Conn) error { return EndSessions(ctx, c, o.Role) })
}

// ReadUsed is what the server takes of its volumes, as the session's role sees it. The
// WAL is seen by superusers and members of pg_monitor; for others it is its limit.
func ReadUsed(ctx context.Context, c *pgx.Conn) (spec.Used, error) {
	var used spec.Used
	var maxWAL, keepWAL int64
	var sees bool
	if err := c.QueryRow(ctx, usedQuery).Scan(&used.Data, &maxWAL, &keepWAL, &sees); err != nil {
		return used, fmt.Errorf("size of the databases: %w", err)
	}
	used.WALLimit = spec.WALLimit(maxWAL, keepWAL)
	if !sees {
		used.WAL, used.WALHidden = used.WALLimit, true
		return used, nil
	}
	if err := c.QueryRow(ctx, walQuery).Scan(&used.WAL); err != nil {
		return used, fmt.Errorf("size of the WAL: %w", err)
	}
	return used, nil
}

// EndSessions of a role, apart from this one.
func EndSessions(ctx context.Context, c *pgx.Conn, role string) error {
	_, err := c.Exec(ctx, endQuery, role)
	return err
}

// held calls use with the connection that is kept, which is replaced after an error.
func (o *Observer) held(ctx context.Context, use func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.kept == nil {
		c, err := pgx.ConnectConfig(ctx, Harden(o.Config))
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		if err := o.superuserOwns(ctx, c); err != nil {
			_ = c.Close(context.WithoutCancel(ctx))
			return err
		}
		o.kept = c
	}
	err := use(ctx, o.kept)
	if err != nil {
		_ = o.kept.Close(context.WithoutCancel(ctx))
		o.kept = nil
	}
	return err
}
