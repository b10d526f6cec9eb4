//go:build guest

// Command powercut is what the host of test/vm boots again and again as the only node of
// a Ceph cluster: it brings up the pool, the zvols, mon, mgr and OSDs, maps the images,
// starts Postgres on them, tells the host what the database has, and writes until the
// power goes. What Postgres acknowledged it tells the host, who cannot forget it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/pgstorage/pgstorage/test/vm/ceph/cluster"
	"github.com/pgstorage/pgstorage/test/vm/ceph/job"
	"github.com/pgstorage/pgstorage/test/vm/postgres/ledger"
	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

// scale of pgbench, whose load runs beside the writers.
const scale = "1"

func main() {
	if len(os.Args) != 2 {
		fmt.Println("usage: powercut HOST:PORT")
		os.Exit(2)
	}
	ctx := context.Background()
	h, err := ledger.Dial(ctx, os.Args[1])
	if err == nil {
		err = run(ctx, h)
	}
	if err != nil {
		fmt.Println("powercut:", err)
		// First, because the host ends the machine when it is told.
		cluster.Explain(ctx)
		h.Tell("failed %q", err.Error())
		os.Exit(1)
	}
}

func run(ctx context.Context, h *ledger.Host) error {
	content, err := os.ReadFile(job.Name)
	if err != nil {
		return err
	}
	var j job.Job
	if err := json.Unmarshal(content, &j); err != nil {
		return err
	}
	if err := (server.Job{Storage: j.Storage}).Converge(ctx); err != nil {
		return err
	}
	c, err := cluster.Open(ctx, j)
	if err != nil {
		return err
	}
	if err := database(ctx, h, c, j.Sides[0]); err != nil {
		return err
	}
	word, err := h.Ask("ready")
	switch {
	case err != nil:
		return err
	case word == "relaxed":
		// By hand, on what OSDs and mon stand on: the agent would refuse it.
		if err := c.Relax(ctx, j.Sides[0]); err != nil {
			return err
		}
	case word != "load":
		return nil
	}
	return ledger.Load(ctx, h)
}

// database on the images of a side: a new one in a new cluster, else what the power cut
// has left, on a pool that has found no error.
func database(ctx context.Context, h *ledger.Host, c *cluster.Cluster, side job.Side) error {
	instance := server.Instance{Data: "/var/lib/postgresql/data", WAL: "/var/lib/postgresql/wal", Settings: side.Parameters}
	if _, err := c.Mount(ctx, side, "data", side.Images.DataBytes, instance.Data); err != nil {
		return err
	}
	if _, err := c.Mount(ctx, side, "wal", side.Images.WALBytes, instance.WAL); err != nil {
		return err
	}
	if c.Made() {
		return ledger.Create(ctx, instance, scale)
	}
	if err := ledger.Recover(ctx, h, instance); err != nil {
		return err
	}
	return server.Healthy(ctx)
}
