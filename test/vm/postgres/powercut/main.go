//go:build guest

// Command powercut is what the host of test/vm boots repeatedly. It brings up pool and
// Postgres, reports the contents of the database to the host, and writes until the power goes.
// It reports each commit that Postgres acknowledges to the host, which cannot forget it.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/pgstorage/pgstorage/test/vm/postgres/ledger"
	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

// scale of pgbench, whose load runs beside the writers.
const scale = "2"

func main() {
	if len(os.Args) < 2 {
		fmt.Println("usage: powercut HOST:PORT [PROPERTY=VALUE...]")
		os.Exit(2)
	}
	ctx := context.Background()
	h, err := ledger.Dial(ctx, os.Args[1])
	if err == nil {
		err = run(ctx, h, os.Args[2:])
	}
	if err != nil {
		fmt.Println("powercut:", err)
		h.Send("failed %q", err.Error())
		os.Exit(1)
	}
}

// run with properties set by hand on the volumes.
func run(ctx context.Context, h *ledger.Host, properties []string) error {
	job, err := server.Load("job.json")
	if err != nil {
		return err
	}
	if err := job.Converge(ctx); err != nil {
		return err
	}
	instance := server.Instance{Data: "/var/lib/postgresql/data", WAL: "/var/lib/postgresql/wal", Settings: job.Parameters}
	pool := job.Storage.Spec.Pool.Name
	made, err := volumes(ctx, pool, instance, properties)
	if err != nil {
		return err
	}
	if made {
		err = create(ctx, pool, instance)
	} else {
		err = recovered(ctx, h, instance)
	}
	if err != nil {
		return err
	}
	versions, err := server.Versions(ctx)
	if err != nil {
		return err
	}
	h.Send("versions %s", versions)
	if word, err := h.Ask("ready"); err != nil || word != "load" {
		return err
	}
	return ledger.Load(ctx, h)
}

func volumes(ctx context.Context, pool string, instance server.Instance, properties []string) (made bool, err error) {
	for dataset, mountpoint := range map[string]string{pool + "/pgdata/pvc-data": instance.Data, pool + "/pgwal/pvc-wal": instance.WAL} {
		if made, err = server.Volume(ctx, dataset, mountpoint); err != nil {
			return made, err
		}
		for _, property := range properties {
			if _, err := server.Run(ctx, "zfs", "set", property, dataset); err != nil {
				return made, err
			}
		}
	}
	return made, nil
}

// create creates a database, and flushes it to the disks whatever sync is set to. The test is
// about the commits of the load.
func create(ctx context.Context, pool string, instance server.Instance) error {
	if err := ledger.Create(ctx, instance, scale); err != nil {
		return err
	}
	_, err := server.Run(ctx, "zpool", "sync", pool)
	return err
}

// recovered on a pool that has found no error.
func recovered(ctx context.Context, h *ledger.Host, instance server.Instance) error {
	if err := ledger.Recover(ctx, h, instance); err != nil {
		return err
	}
	return server.Healthy(ctx)
}
