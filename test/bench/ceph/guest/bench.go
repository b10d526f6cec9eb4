//go:build guest

package main

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/test/bench/ceph/cell"
	"github.com/pgstorage/pgstorage/test/bench/measure"
	"github.com/pgstorage/pgstorage/test/vm/ceph/cluster"
	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

type bench struct {
	plan    measure.Plan
	cluster *cluster.Cluster
	// databases by configuration.
	databases map[string]*database
}

type database struct {
	instance server.Instance
	port     string
	// side of the cluster, and the devices of its images. Both are empty without Ceph.
	side   string
	images []string
}

// round measures every cell once. All servers run meanwhile, so each keeps its cache.
func (b *bench) round(ctx context.Context, round int) error {
	for _, turn := range measure.Turns(round, cell.Configurations(), b.plan.Clients) {
		c := cell.Cell{Sample: turn}
		if err := b.measure(ctx, &c); err != nil {
			return err
		}
		measure.Print("cell", c)
	}
	return nil
}

func (b *bench) measure(ctx context.Context, c *cell.Cell) error {
	d := b.databases[c.Configuration]
	load := measure.Load{Port: d.port, Script: b.plan.Script, Clients: c.Clients, Seconds: b.plan.Seconds, Durable: c.Durable}
	bracket := measure.Bracket[gauge]{Pool: b.plan.Pool, WarmUp: b.plan.WarmUp, Gauge: func(ctx context.Context, conn *pgx.Conn) (gauge, error) {
		return b.gauge(ctx, conn, d)
	}}
	r, err := bracket.Measure(ctx, load, func(ctx context.Context) error {
		result, err := load.Run(ctx)
		if err == nil {
			c.TPS, c.Transactions = result.TPS, result.Transactions
		}
		return err
	})
	c.SettleSeconds = r.SettleSeconds
	c.Busy, c.Disk = r.After.cpu.BusySince(r.Before.cpu), r.After.disk.Since(r.Before.disk)
	c.Written = r.Settled.layers.Since(r.Before.layers)
	return err
}

// gauge has every counter that is read before and after a run.
type gauge struct {
	layers cell.Layers
	disk   measure.Counters
	cpu    measure.CPU
}

// written by Postgres: the WAL, and pages from any of its processes.
const written = `SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint +
	(SELECT buffers_checkpoint + buffers_clean + buffers_backend FROM pg_stat_bgwriter) * current_setting('block_size')::bigint`

func (b *bench) gauge(ctx context.Context, conn *pgx.Conn, d *database) (gauge, error) {
	var g gauge
	if err := conn.QueryRow(ctx, written).Scan(&g.layers.Postgres); err != nil {
		return g, err
	}
	var err error
	if g.disk, err = measure.Disk(b.plan.Serial); err != nil {
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

// onCeph reads the layers between Postgres and the disk.
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
