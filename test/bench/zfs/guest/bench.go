//go:build guest

package main

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/test/bench/measure"
	"github.com/pgstorage/pgstorage/test/bench/zfs/cell"
	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

type bench struct {
	plan cell.Plan
	// ports of the servers, by configuration.
	ports map[string]string
}

// round runs every cell once. Both configurations take turns, while both servers
// run: each keeps its cache. Which is first is another one in each round, and so is
// the kind of commit and the number of clients.
func (b bench) round(ctx context.Context, round int) error {
	names, durable := []string{cell.Default, cell.Ours}, []bool{true, false}
	if round%2 == 1 {
		slices.Reverse(names)
		slices.Reverse(durable)
	}
	for _, d := range durable {
		for i := range b.plan.Clients {
			clients := b.plan.Clients[(i+round)%len(b.plan.Clients)]
			for _, name := range names {
				c := cell.Cell{Round: round, Configuration: name, Durable: d, Clients: clients}
				if err := b.measure(ctx, &c); err != nil {
					return err
				}
				measure.Tell("cell", c)
			}
		}
	}
	return nil
}

// measure from one checkpoint to the next, so that each run begins with every page
// clean and ends with every page written. Load goes ahead, because the other
// database's turn has taken the file system's cache.
func (b bench) measure(ctx context.Context, c *cell.Cell) error {
	conn, err := pgx.Connect(ctx, server.DSN+" port="+b.ports[c.Configuration])
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // its work is done
	load := measure.Load{Port: b.ports[c.Configuration], Script: b.plan.Script, Clients: c.Clients, Seconds: b.plan.WarmUp, Durable: c.Durable}
	if _, err := load.Run(ctx); err != nil {
		return err
	}
	if err := b.settle(ctx, conn); err != nil {
		return err
	}
	before, err := b.gauge(ctx, conn)
	if err != nil {
		return err
	}
	load.Seconds = b.plan.Seconds
	watched, err := load.Watch(ctx)
	if err != nil {
		return err
	}
	after, err := b.gauge(ctx, conn)
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := b.settle(ctx, conn); err != nil {
		return err
	}
	c.SettleSeconds = time.Since(begin).Seconds()
	settled, err := disk(b.plan.Serial)
	c.Result, c.Latencies = watched.Result, watched.Latencies
	for _, second := range watched.Seconds {
		c.Rates = append(c.Rates, second.TPS)
	}
	c.TPS, c.Transactions = c.Result.TPS, c.Result.Transactions
	c.Running, c.Settled = after.disk.Since(before.disk), settled.Since(before.disk)
	c.Busy = after.cpu.BusySince(before.cpu)
	c.WALBytes, c.FullPages = after.wal-before.wal, after.fullPages-before.fullPages
	return err
}

func (b bench) settle(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, "CHECKPOINT"); err != nil {
		return err
	}
	_, err := server.Run(ctx, "zpool", "sync", b.plan.Pool)
	return err
}
