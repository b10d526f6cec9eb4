//go:build guest

package main

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/test/bench/measure"
	"github.com/pgstorage/pgstorage/test/bench/zfs/cell"
)

// gauge has every counter that is read before and after a run.
type gauge struct {
	disk           cell.Counters
	cpu            measure.CPU
	wal, fullPages int64
}

const walCounters = `SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint, (SELECT wal_fpi FROM pg_stat_wal)::bigint`

func (b bench) gauge(ctx context.Context, conn *pgx.Conn) (gauge, error) {
	var g gauge
	if err := conn.QueryRow(ctx, walCounters).Scan(&g.wal, &g.fullPages); err != nil {
		return g, err
	}
	var err error
	if g.disk, err = measure.Disk(b.plan.Serial); err != nil {
		return g, err
	}
	g.cpu, err = measure.Processors()
	return g, err
}
