//go:build guest

// Command powercut is what the host of test/vm boots again and again: it brings up
// pool and Postgres, tells the host what the database has, and writes until the
// power goes. What Postgres acknowledged it tells the host, who cannot forget it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

const (
	writers = 4
	// scale of pgbench, whose load runs beside the writers.
	scale = "2"
)

const schema = `
CREATE TABLE ledger (id bigint PRIMARY KEY, payload text NOT NULL);
CREATE INDEX ON ledger (payload);
CREATE EXTENSION amcheck`

func main() {
	if len(os.Args) < 2 {
		fmt.Println("usage: powercut HOST:PORT [PROPERTY=VALUE...]")
		os.Exit(2)
	}
	ctx := context.Background()
	h, err := dial(ctx, os.Args[1])
	if err == nil {
		err = run(ctx, h, os.Args[2:])
	}
	if err != nil {
		fmt.Println("powercut:", err)
		h.tell("failed %q", err.Error())
		os.Exit(1)
	}
}

// run with properties set by hand on the volumes.
func run(ctx context.Context, h *host, properties []string) error {
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
	if word, err := h.ask("ready"); err != nil || word != "load" {
		return err
	}
	return load(ctx, h)
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

// create a database, and have it on the disks whatever sync is set to: the load's
// commits are what is looked for.
func create(ctx context.Context, pool string, instance server.Instance) error {
	if err := instance.Init(ctx); err != nil {
		return err
	}
	if _, err := instance.Start(ctx); err != nil {
		return err
	}
	if _, err := server.AsPostgres(ctx, "pgbench", "--initialize", "--quiet", "--scale="+scale); err != nil {
		return err
	}
	err := withConn(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, schema)
		return err
	})
	if err != nil {
		return err
	}
	_, err = server.Run(ctx, "zpool", "sync", pool)
	return err
}

// recovered starts Postgres after a power cut and tells what it came back with.
func recovered(ctx context.Context, h *host, instance server.Instance) error {
	took, err := instance.Start(ctx)
	if err != nil {
		return err
	}
	log, err := os.ReadFile(instance.Log())
	if err != nil {
		return err
	}
	if !strings.Contains(string(log), "automatic recovery in progress") {
		return fmt.Errorf("no recovery by Postgres:\n%s", log)
	}
	h.tell("recovered %.1f", took.Seconds())
	err = withConn(ctx, func(conn *pgx.Conn) error {
		present, err := ids(ctx, conn)
		h.tell("present %s", present)
		return err
	})
	if err != nil {
		return err
	}
	begin := time.Now()
	if out, err := server.AsPostgres(ctx, "pg_amcheck", "--database=postgres", "--heapallindexed", "--jobs=2"); err != nil || out != "" {
		return errors.Join(err, fmt.Errorf("pg_amcheck found: %s", out))
	}
	h.tell("checked %.1f", time.Since(begin).Seconds())
	if err := withConn(ctx, func(conn *pgx.Conn) error { return sound(ctx, conn) }); err != nil {
		return err
	}
	health, err := server.Run(ctx, "zpool", "status", "-x")
	if err == nil && strings.TrimSpace(health) != "all pools are healthy" {
		err = fmt.Errorf("zpool status: %s", health)
	}
	return err
}

func withConn(ctx context.Context, do func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, server.DSN)
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // its work is done
	return do(conn)
}
