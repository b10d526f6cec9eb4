//go:build guest

// Command powercut is what the host of test/vm boots repeatedly as the only node of a Ceph
// cluster. It brings up the pool, the zvols, mon, mgr and OSDs, maps the images and starts
// Postgres on them. Then it reports the contents of the database to the host, and writes until
// the power goes. It reports each commit that Postgres acknowledges to the host, which cannot
// forget it.
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
		// This comes first, because the host ends the machine when it reads the error.
		cluster.Explain(ctx)
		h.Send("failed %q", err.Error())
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
	d := newDatabase(j.Sides[0])
	if err := d.start(ctx, h, c); err != nil {
		return err
	}
	word, err := h.Ask("ready")
	switch {
	case err != nil:
		return err
	case word == "relaxed":
		// This needs a manual change of the zvols of OSDs and mon: the agent would refuse it.
		if err := c.Relax(ctx, j.Sides[0]); err != nil {
			return err
		}
	case word != "load":
		return d.stop(ctx, c)
	}
	return ledger.Load(ctx, h)
}

// database on the images of a side.
type database struct {
	side     job.Side
	instance server.Instance
	volumes  []volume
}

// volume of it: an image, and the folder that it is mounted on.
type volume struct {
	claim  string
	bytes  int64
	folder string
	device string
}

func newDatabase(side job.Side) *database {
	d := &database{side: side, instance: server.Instance{Data: "/var/lib/postgresql/data", WAL: "/var/lib/postgresql/wal", Settings: side.Parameters}}
	d.volumes = []volume{
		{claim: "data", bytes: side.Images.DataBytes, folder: d.instance.Data},
		{claim: "wal", bytes: side.Images.WALBytes, folder: d.instance.WAL},
	}
	return d
}

// start starts a new database in a new cluster, or the one that a power cut left. The pool must
// have found no error.
func (d *database) start(ctx context.Context, h *ledger.Host, c *cluster.Cluster) error {
	for i := range d.volumes {
		v := &d.volumes[i]
		var err error
		if v.device, err = c.Mount(ctx, d.side, v.claim, v.bytes, v.folder); err != nil {
			return err
		}
	}
	if c.Made() {
		return ledger.Create(ctx, d.instance, scale)
	}
	if err := ledger.Recover(ctx, h, d.instance); err != nil {
		return err
	}
	return server.Healthy(ctx)
}

// stop stops the database while its OSDs run: without them, nothing can write what is still in
// memory.
func (d *database) stop(ctx context.Context, c *cluster.Cluster) error {
	if err := d.instance.Stop(ctx); err != nil {
		return err
	}
	for _, v := range d.volumes {
		if err := c.Unmount(ctx, v.device, v.folder); err != nil {
			return err
		}
	}
	return nil
}
