//go:build guest

package main

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/test/bench/ceph/cell"
	"github.com/pgstorage/pgstorage/test/bench/measure"
	"github.com/pgstorage/pgstorage/test/vm/ceph/cluster"
	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

type bench struct {
	plan    cell.Plan
	cluster *cluster.Cluster
	// databases by configuration.
	databases map[string]*database
}

type database struct {
	instance server.Instance
	port     string
	// side of the cluster that it is on, and the devices of its images; empty without Ceph.
	side   string
	images []string
}

// round runs every cell once. The configurations take turns, while all servers run: each
// keeps its cache. Which is first is another one in each round, and so is the kind of
// commit and the number of clients.
func (b *bench) round(ctx context.Context, round int) error {
	names, durable := cell.Configurations(), []bool{true, false}
	first := round % len(names)
	names = slices.Concat(names[first:], names[:first])
	if round%2 == 1 {
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
// databases' turns have taken the caches.
func (b *bench) measure(ctx context.Context, c *cell.Cell) error {
	d := b.databases[c.Configuration]
	conn, err := pgx.Connect(ctx, server.DSN+" port="+d.port)
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // its work is done
	load := measure.Load{Port: d.port, Script: b.plan.Script, Clients: c.Clients, Seconds: b.plan.WarmUp, Durable: c.Durable}
	if _, err := load.Run(ctx); err != nil {
		return err
	}
	if err := b.settle(ctx, conn); err != nil {
		return err
	}
	before, err := b.gauge(ctx, conn, d)
	if err != nil {
		return err
	}
	load.Seconds = b.plan.Seconds
	result, err := load.Run(ctx)
	if err != nil {
		return err
	}
	after, err := b.gauge(ctx, conn, d)
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := b.settle(ctx, conn); err != nil {
		return err
	}
	c.SettleSeconds = time.Since(begin).Seconds()
	settled, err := b.gauge(ctx, conn, d)
	c.TPS, c.Transactions = result.TPS, result.Transactions
	c.Busy, c.Disk = after.cpu.BusySince(before.cpu), after.disk.Since(before.disk)
	c.Written = settled.layers.Since(before.layers)
	return err
}

func (b *bench) settle(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, "CHECKPOINT"); err != nil {
		return err
	}
	_, err := server.Run(ctx, "zpool", "sync", b.plan.Pool)
	return err
}

// gauge is everything that is read before and after a run.
type gauge struct {
	layers cell.Layers
	disk   measure.Counters
	cpu    measure.CPU
}

// written by Postgres: WAL, and pages by whoever wrote them.
const written = `SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint +
	(SELECT buffers_checkpoint + buffers_clean + buffers_backend FROM pg_stat_bgwriter) * current_setting('block_size')::bigint`

func (b *bench) gauge(ctx context.Context, conn *pgx.Conn, d *database) (gauge, error) {
	var g gauge
	if err := conn.QueryRow(ctx, written).Scan(&g.layers.Postgres); err != nil {
		return g, err
	}
	var err error
	if g.disk, err = b.disk(); err != nil {
		return g, err
	}
	g.layers.Disk = g.disk.WriteBytes
	if d.side != "" {
		if err := b.onCeph(&g.layers, d); err != nil {
			return g, err
		}
	}
	g.cpu, err = measure.Processors()
	return g, err
}

// onCeph are the layers between Postgres and the disk.
func (b *bench) onCeph(l *cell.Layers, d *database) (err error) {
	if l.RBD, err = sum(d.images); err != nil {
		return err
	}
	if l.OSD, err = b.cluster.Asked(d.side); err != nil {
		return err
	}
	l.Zvol, err = sum(b.cluster.Devices(d.side))
	return err
}

// sum of the bytes written to devices.
func sum(devices []string) (int64, error) {
	var bytes int64
	for _, device := range devices {
		c, err := measure.Device(device)
		if err != nil {
			return 0, err
		}
		bytes += c.WriteBytes
	}
	return bytes, nil
}

func (b *bench) disk() (measure.Counters, error) {
	return measure.Device("/dev/disk/by-id/virtio-" + b.plan.Serial)
}
