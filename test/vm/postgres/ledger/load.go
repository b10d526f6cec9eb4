//go:build linux

package ledger

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

// writers of rows, besides which pgbench runs.
const writers = 4

// insert is one transaction of its own: acknowledged means committed.
const insert = `INSERT INTO ledger VALUES ($1::bigint, md5($1::bigint::text))`

// Load ends only with the power, or with an error. It reports each id to the host as soon as
// its commit is acknowledged.
func Load(ctx context.Context, h *Host) error {
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

func write(ctx context.Context, h *Host, conn *pgx.Conn, last *atomic.Int64) error {
	for {
		id := last.Add(1)
		if _, err := conn.Exec(ctx, insert, id); err != nil {
			return err
		}
		h.Send("ack %d", id)
	}
}
