//go:build guest

package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

const schema = `
CREATE TABLE ledger (id bigint PRIMARY KEY, payload text NOT NULL);
CREATE INDEX ON ledger (payload);
CREATE EXTENSION amcheck`

// islands are the runs of consecutive ids, as first-last.
const islands = `SELECT min(id) || '-' || max(id) FROM (SELECT id, id - row_number() OVER (ORDER BY id) AS run FROM ledger) r GROUP BY run ORDER BY min(id)`

const (
	// faults of the ledger. A page that is read with a wrong checksum is an error, and
	// counted too.
	faults = `SELECT
	(SELECT count(*) FROM ledger WHERE payload <> md5(id::text)),
	(SELECT coalesce(sum(checksum_failures), 0) FROM pg_stat_database),
	to_regclass('pgbench_history') IS NOT NULL`
	// sums are equal after any number of pgbench's whole transactions.
	sums = `SELECT
	(SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(bbalance) FROM pgbench_branches),
	(SELECT sum(tbalance) FROM pgbench_tellers), (SELECT coalesce(sum(delta), 0) FROM pgbench_history)`
)

// up mounts the volumes and starts Postgres, and creates a missing database.
func (n *node) up(ctx context.Context) (string, error) {
	pool, made := n.job.Storage.Spec.Pool.Name, false
	for dataset, mountpoint := range map[string]string{pool + "/pgdata/pvc-data": n.instance.Data, pool + "/pgwal/pvc-wal": n.instance.WAL} {
		fresh, err := server.Volume(ctx, dataset, mountpoint)
		if err != nil {
			return "", err
		}
		made = made || fresh
	}
	if made {
		return "made", n.create(ctx)
	}
	took, err := n.instance.Start(ctx)
	return fmt.Sprintf("Postgres started in %.1f s", took.Seconds()), err
}

func (n *node) create(ctx context.Context) error {
	begin := time.Now()
	if err := n.instance.Init(ctx); err != nil {
		return err
	}
	fmt.Printf("node: initdb: %.1f s\n", time.Since(begin).Seconds())
	if _, err := n.instance.Start(ctx); err != nil {
		return err
	}
	return withConn(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, schema)
		return err
	})
}

// pgbench runs for so many seconds, and creates missing tables.
func (n *node) pgbench(ctx context.Context, seconds string) (string, error) {
	there, err := server.AsPostgres(ctx, "psql", "--no-align", "--tuples-only", "--command=SELECT to_regclass('pgbench_history')")
	if err == nil && strings.TrimSpace(there) == "" {
		_, err = server.AsPostgres(ctx, "pgbench", "--initialize", "--quiet", "--scale=1")
	}
	if err != nil {
		return "", err
	}
	return server.AsPostgres(ctx, "pgbench", "--no-vacuum", "--client=2", "--time="+seconds)
}

// down stops Postgres cleanly and unmounts its volumes.
func (n *node) down(ctx context.Context) error {
	n.clients.stop()
	if err := n.instance.Stop(ctx); err != nil {
		return err
	}
	for _, volume := range []string{n.instance.Data, n.instance.WAL} {
		if err := server.Unmount(ctx, volume); err != nil {
			return err
		}
	}
	return nil
}

// present lists the ids that the database has, while no client writes. It also verifies
// everything else that is known of the contents.
func (n *node) present(ctx context.Context) (string, error) {
	n.clients.gate.Lock()
	defer n.clients.gate.Unlock()
	var found []string
	err := withConn(ctx, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, islands)
		if err == nil {
			found, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		if err != nil {
			return err
		}
		return sound(ctx, conn)
	})
	return strings.Join(found, ","), err
}

func sound(ctx context.Context, conn *pgx.Conn) error {
	var wrong, failures, accounts, branches, tellers, deltas int64
	var benched bool
	err := conn.QueryRow(ctx, faults).Scan(&wrong, &failures, &benched)
	if err == nil && benched {
		err = conn.QueryRow(ctx, sums).Scan(&accounts, &branches, &tellers, &deltas)
	}
	if err == nil && (wrong != 0 || failures != 0 || accounts != branches || accounts != tellers || accounts != deltas) {
		err = fmt.Errorf("%d rows are not as written, %d checksum failures; pgbench's sums are %d, %d, %d, %d", wrong, failures, accounts, branches, tellers, deltas)
	}
	return err
}

// amcheck while no client writes.
func (n *node) amcheck(ctx context.Context) (string, error) {
	n.clients.gate.Lock()
	defer n.clients.gate.Unlock()
	begin := time.Now()
	out, err := server.AsPostgres(ctx, "pg_amcheck", "--database=postgres", "--heapallindexed", "--jobs=2")
	if err == nil && out != "" {
		err = fmt.Errorf("pg_amcheck found: %s", out)
	}
	return fmt.Sprintf("%.1f s", time.Since(begin).Seconds()), err
}

// versions of what a report is about.
func versions(ctx context.Context) (string, error) {
	others, err := server.Versions(ctx)
	if err != nil {
		return "", err
	}
	zerofs, err := exec.CommandContext(ctx, "zerofs", "--version").Output()
	if err != nil {
		return "", err
	}
	words := strings.Fields(string(zerofs))
	return "ZeroFS " + words[len(words)-1] + ", " + others, nil
}

func withConn(ctx context.Context, do func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, server.DSN)
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // its work is done
	return do(conn)
}
