//go:build guest

package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

// islands are the runs of consecutive ids, as first-last.
const islands = `SELECT min(id) || '-' || max(id) FROM (SELECT id, id - row_number() OVER (ORDER BY id) AS run FROM ledger) r GROUP BY run ORDER BY min(id)`

// insert is one transaction by itself: acknowledged is committed.
const insert = `INSERT INTO ledger VALUES ($1::bigint, md5($1::bigint::text))`

// sums are equal after any number of pgbench's whole transactions. A page that is
// read with a wrong checksum is an error, and counted too.
const invariants = `SELECT
	(SELECT count(*) FROM ledger WHERE payload <> md5(id::text)),
	(SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(bbalance) FROM pgbench_branches),
	(SELECT sum(tbalance) FROM pgbench_tellers), (SELECT coalesce(sum(delta), 0) FROM pgbench_history),
	(SELECT coalesce(sum(checksum_failures), 0) FROM pg_stat_database)`

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

// load ends only with the power, or with an error.
func load(ctx context.Context, h *host) error {
	last := &atomic.Int64{}
	err := withConn(ctx, func(conn *pgx.Conn) error {
		var highest int64
		err := conn.QueryRow(ctx, "SELECT coalesce(max(id), 0) FROM ledger").Scan(&highest)
		last.Store(highest)
		return err
	})
	if err != nil {
		return err
	}
	ended := make(chan error)
	for range writers {
		go func() { ended <- withConn(ctx, func(conn *pgx.Conn) error { return write(ctx, h, conn, last) }) }()
	}
	go func() {
		// Its tables keep their rows, so that their sums stay comparable.
		out, err := server.AsPostgres(ctx, "pgbench", "--no-vacuum", "--client=2", "--time=100000")
		ended <- fmt.Errorf("pgbench ended: %w: %s", err, out)
	}()
	return <-ended
}

func write(ctx context.Context, h *host, conn *pgx.Conn, last *atomic.Int64) error {
	for {
		id := last.Add(1)
		if _, err := conn.Exec(ctx, insert, id); err != nil {
			return err
		}
		h.tell("ack %d", id)
	}
}
