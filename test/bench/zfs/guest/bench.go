//go:build guest

package main

import (
	"context"

	"github.com/pgstorage/pgstorage/test/bench/measure"
	"github.com/pgstorage/pgstorage/test/bench/zfs/cell"
)

type bench struct {
	plan cell.Plan
	// ports of the servers, by configuration.
	ports map[string]string
}

// round measures every cell once. Both servers run meanwhile, so each keeps its cache.
func (b bench) round(ctx context.Context, round int) error {
	for _, turn := range measure.Turns(round, []string{cell.Default, cell.Ours}, b.plan.Clients) {
		c := cell.Cell{Sample: turn}
		if err := b.measure(ctx, &c); err != nil {
			return err
		}
		measure.Print("cell", c)
	}
	return nil
}

func (b bench) measure(ctx context.Context, c *cell.Cell) error {
	load := measure.Load{Port: b.ports[c.Configuration], Script: b.plan.Script, Clients: c.Clients, Seconds: b.plan.Seconds, Durable: c.Durable}
	bracket := measure.Bracket[gauge]{Pool: b.plan.Pool, WarmUp: b.plan.WarmUp, Gauge: b.gauge}
	var watched measure.Watched
	r, err := bracket.Measure(ctx, load, func(ctx context.Context) (err error) {
		watched, err = load.Watch(ctx)
		return err
	})
	if err != nil {
		return err
	}
	c.Result, c.Latencies = watched.Result, watched.Latencies
	for _, second := range watched.Seconds {
		c.Rates = append(c.Rates, second.TPS)
	}
	c.TPS, c.Transactions, c.SettleSeconds = c.Result.TPS, c.Result.Transactions, r.SettleSeconds
	c.Running, c.Settled = r.After.disk.Since(r.Before.disk), r.Settled.disk.Since(r.Before.disk)
	c.Busy = r.After.cpu.BusySince(r.Before.cpu)
	c.WALBytes, c.FullPages = r.After.wal-r.Before.wal, r.After.fullPages-r.Before.fullPages
	return nil
}
