//go:build linux

// Package ledger is the database of a machine whose power is cut. It has a table of rows, whose
// acknowledged commits the host knows, and pgbench's tables, whose sums must agree.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

const schema = `
CREATE TABLE ledger (id bigint PRIMARY KEY, payload text NOT NULL);
CREATE INDEX ON ledger (payload);
CREATE EXTENSION amcheck`

// islands are the runs of consecutive ids, as first-last.
const islands = `SELECT min(id) || '-' || max(id) FROM (SELECT id, id - row_number() OVER (ORDER BY id) AS run FROM ledger) r GROUP BY run ORDER BY min(id)`

// sums are equal after any number of pgbench's whole transactions. A page that is
// read with a wrong checksum is an error, and counted too.
const invariants = `SELECT
	(SELECT count(*) FROM ledger WHERE payload <> md5(id::text)),
	(SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(bbalance) FROM pgbench_branches),
	(SELECT sum(tbalance) FROM pgbench_tellers), (SELECT coalesce(sum(delta), 0) FROM pgbench_history),
	(SELECT coalesce(sum(checksum_failures), 0) FROM pg_stat_database)`

// Create the database on an instance that is not there yet, and leave it running.
func Create(ctx context.Context, instance server.Instance, scale string) error {
	if err := instance.Init(ctx); err != nil {
		return err
	}
	if _, err := instance.Start(ctx); err != nil {
		return err
	}
	if _, err := server.AsPostgres(ctx, "pgbench", "--initialize", "--quiet", "--scale="+scale); err != nil {
		return err
	}
	return withConn(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, schema)
		return err
	})
}

// Recover starts Postgres after a power cut, and reports its state to the host. It reports the
// time that the start took, the ids in the table, and that pg_amcheck finds no error.
func Recover(ctx context.Context, h *Host, instance server.Instance) error {
	took, err := instance.Start(ctx)
	if err != nil {
		return err
	}
	log, err := os.ReadFile(instance.Log())
	if err != nil {
		return err
	}
	if !strings.Contains(string(log), "automatic recovery in progress") {
		return fmt.Errorf("no recovery by Postgres:\n%s", log)
	}
	h.Send("recovered %.1f", took.Seconds())
	err = withConn(ctx, func(conn *pgx.Conn) error {
		present, err := ids(ctx, conn)
		h.Send("present %s", present)
		return err
	})
	if err != nil {
		return err
	}
	begin := time.Now()
	if out, err := server.AsPostgres(ctx, "pg_amcheck", "--database=postgres", "--heapallindexed", "--jobs=2"); err != nil || out != "" {
		return errors.Join(err, fmt.Errorf("pg_amcheck found: %s", out))
	}
	h.Send("checked %.1f", time.Since(begin).Seconds())
	return withConn(ctx, func(conn *pgx.Conn) error { return sound(ctx, conn) })
}

func ids(ctx context.Context, conn *pgx.Conn) (string, error) {
	rows, err := conn.Query(ctx, islands)
	if err != nil {
		return "", err
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return strings.Join(found, ","), err
}

func sound(ctx context.Context, conn *pgx.Conn) error {
	var wrong, accounts, branches, tellers, history, failures int64
	if err := conn.QueryRow(ctx, invariants).Scan(&wrong, &accounts, &branches, &tellers, &history, &failures); err != nil {
		return err
	}
	if wrong != 0 || failures != 0 || accounts != branches || accounts != tellers || accounts != history {
		return fmt.Errorf("%d rows are not as written, %d checksum failures; pgbench's sums are %d, %d, %d, %d", wrong, failures, accounts, branches, tellers, history)
	}
	return nil
}

func withConn(ctx context.Context, do func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, server.DSN)
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // its work is done
	return do(conn)
}
