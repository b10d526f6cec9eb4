//go:build guest

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/internal/pgbench"
	"github.com/pgstorage/pgstorage/test/benchzfs/cell"
	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

type bench struct {
	plan      cell.Plan
	instances map[string]server.Instance
}

// round runs every cell once. The configuration that is first is another one in
// each round, and so is the kind of commit.
func (b bench) round(ctx context.Context, round int) error {
	names, durable := []string{cell.Default, cell.Ours}, []bool{true, false}
	if round%2 == 1 {
		slices.Reverse(names)
	}
	if round/2%2 == 1 {
		slices.Reverse(durable)
	}
	for _, d := range durable {
		for _, name := range names {
			if err := b.block(ctx, cell.Cell{Round: round, Configuration: name, Durable: d}); err != nil {
				return err
			}
		}
	}
	return nil
}

// block is one server's turn: a warm-up, and each number of clients.
func (b bench) block(ctx context.Context, c cell.Cell) error {
	instance := b.instances[c.Configuration]
	if _, err := instance.Start(ctx); err != nil {
		return err
	}
	if _, err := b.pgbench(ctx, 4, b.plan.WarmUp, c.Durable); err != nil {
		return err
	}
	for i := range b.plan.Clients {
		c.Clients = b.plan.Clients[(i+c.Round)%len(b.plan.Clients)]
		if err := b.measure(ctx, &c); err != nil {
			return err
		}
		tell("cell", c)
	}
	return instance.Stop(ctx)
}

// measure from one checkpoint to the next, so that each run begins with every page
// clean and ends with every page written.
func (b bench) measure(ctx context.Context, c *cell.Cell) error {
	conn, err := pgx.Connect(ctx, server.DSN)
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // its work is done
	if err := b.settle(ctx, conn); err != nil {
		return err
	}
	before, err := b.gauge(ctx, conn)
	if err != nil {
		return err
	}
	result, err := b.pgbench(ctx, c.Clients, b.plan.Seconds, c.Durable)
	if err != nil {
		return err
	}
	after, err := b.gauge(ctx, conn)
	if err != nil {
		return err
	}
	if err := b.settle(ctx, conn); err != nil {
		return err
	}
	settled, err := counters(b.plan.Serial)
	c.TPS, c.Transactions = result.TPS, result.Transactions
	c.Running, c.Settled = after.disk.Since(before.disk), settled.Since(before.disk)
	c.Busy = after.cpu.busySince(before.cpu)
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

func (b bench) pgbench(ctx context.Context, clients, seconds int, durable bool) (*pgbench.Result, error) {
	args, err := pgbench.RunOptions{
		Scripts: []pgbench.WeightedScript{{Builtin: b.plan.Script}},
		Clients: clients, Jobs: min(clients, 2), Duration: time.Duration(seconds) * time.Second,
		Protocol: pgbench.Prepared, NoVacuum: true,
	}.Args()
	if err != nil {
		return nil, err
	}
	cmd, err := server.Command(ctx, "pgbench", args...)
	if err != nil {
		return nil, err
	}
	commit := map[bool]string{true: "on", false: "off"}[durable]
	cmd.Env = append(cmd.Env, "PGOPTIONS=-c synchronous_commit="+commit)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, out)
	}
	return pgbench.Parse(strings.NewReader(string(out)))
}
