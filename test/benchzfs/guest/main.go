//go:build guest

// Command guest measures in the virtual machine of the ZFS benchmark: it makes
// both databases on one pool, and runs pgbench on one and the other in turn.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/test/benchzfs/cell"
	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Println("benchzfs:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var plan cell.Plan
	content, err := os.ReadFile("plan.json")
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, &plan); err != nil {
		return err
	}
	job, err := server.Load("job.json")
	if err != nil {
		return err
	}
	if err := job.Converge(ctx); err != nil {
		return err
	}
	instances := map[string]server.Instance{
		cell.Default: {Data: "/srv/default"},
		cell.Ours:    {Data: "/srv/data", WAL: "/srv/wal", Settings: job.Parameters},
	}
	facts, err := versions(ctx)
	if err != nil {
		return err
	}
	if err := mountVolumes(ctx, plan.Pool, instances); err != nil {
		return err
	}
	if facts.DatabaseBytes, err = fill(ctx, plan, instances[cell.Default]); err != nil {
		return err
	}
	if err := clone(ctx, instances[cell.Default], instances[cell.Ours]); err != nil {
		return err
	}
	if facts.Datasets, err = properties(ctx, plan.Pool); err != nil {
		return err
	}
	tell("facts", facts)
	b := bench{plan: plan, ports: map[string]string{}}
	for i, name := range []string{cell.Default, cell.Ours} {
		b.ports[name] = strconv.Itoa(5432 + i)
		if err := serve(ctx, instances[name], b.ports[name]); err != nil {
			return err
		}
	}
	for round := range plan.Rounds {
		if err := b.round(ctx, round); err != nil {
			return err
		}
	}
	total, err := counters(plan.Serial)
	tell("total", total)
	return err
}

func versions(ctx context.Context) (cell.Facts, error) {
	var facts cell.Facts
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return facts, err
	}
	zfs, err := os.ReadFile("/sys/module/zfs/version")
	if err != nil {
		return facts, err
	}
	postgres, err := server.Run(ctx, "postgres", "--version")
	facts.Kernel, facts.ZFS, facts.Postgres = strings.TrimSpace(string(kernel)), strings.TrimSpace(string(zfs)), strings.TrimSpace(postgres)
	return facts, err
}

// mountVolumes of both: a dataset that is made without a word, and two beneath the
// agent's parents.
func mountVolumes(ctx context.Context, pool string, instances map[string]server.Instance) error {
	for name, mountpoint := range map[string]string{
		"default":         instances[cell.Default].Data,
		"pgdata/pvc-data": instances[cell.Ours].Data,
		"pgwal/pvc-wal":   instances[cell.Ours].WAL,
	} {
		if _, err := server.Volume(ctx, pool+"/"+name, mountpoint); err != nil {
			return err
		}
	}
	return nil
}

// properties of the volumes, as ZFS has them once the databases are there.
func properties(ctx context.Context, pool string) ([]string, error) {
	if _, err := server.Run(ctx, "zpool", "sync", pool); err != nil {
		return nil, err
	}
	out, err := server.Run(ctx, "zfs", "get", "-H", "-o", "name,property,value,source",
		"recordsize,compression,atime,relatime,logbias,xattr,primarycache,sync,checksum,compressratio",
		pool+"/default", pool+"/pgdata/pvc-data", pool+"/pgwal/pvc-wal")
	return strings.Split(strings.TrimSpace(out), "\n"), err
}

// fill a database, and return its size.
func fill(ctx context.Context, plan cell.Plan, instance server.Instance) (int64, error) {
	begin := time.Now()
	if err := instance.Init(ctx); err != nil {
		return 0, err
	}
	if _, err := instance.Start(ctx); err != nil {
		return 0, err
	}
	if _, err := server.AsPostgres(ctx, "pgbench", "--initialize", "--quiet", "--scale="+strconv.Itoa(plan.Scale)); err != nil {
		return 0, err
	}
	text, err := server.AsPostgres(ctx, "psql", "-Atc", "SELECT pg_database_size('postgres')")
	if err != nil {
		return 0, err
	}
	size, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0, err
	}
	fmt.Printf("filled with %d MB in %s\n", size/1e6, time.Since(begin).Round(time.Second))
	return size, instance.Stop(ctx)
}

// clone a stopped instance, file by file, so that both hold the same pages and the
// second one costs an emulated processor less than the first.
func clone(ctx context.Context, from, to server.Instance) error {
	begin := time.Now()
	data, wal := to.Data+"/pgdata", to.WAL+"/pg_wal"
	for _, command := range [][]string{
		{"chown", "postgres:postgres", to.Data, to.WAL},
		{"cp", "-a", from.Data + "/pgdata", data},
		{"mv", data + "/pg_wal", wal},
		{"ln", "-s", wal, data + "/pg_wal"},
		{"chown", "--no-dereference", "postgres:postgres", data + "/pg_wal"},
	} {
		if _, err := server.Run(ctx, command[0], command[1:]...); err != nil {
			return err
		}
	}
	fmt.Printf("cloned in %s\n", time.Since(begin).Round(time.Second))
	return nil
}

// serve a database on a port of its own, and read it once: it is the state after
// hours that is measured, not that after a start.
func serve(ctx context.Context, instance server.Instance, port string) error {
	settings := map[string]string{"port": port}
	maps.Copy(settings, instance.Settings)
	instance.Settings = settings
	if _, err := instance.Start(ctx); err != nil {
		return err
	}
	_, err := server.AsPostgres(ctx, "psql", "--port="+port, "--quiet", "--command=CREATE EXTENSION pg_prewarm",
		"--command=SELECT pg_prewarm(oid) FROM pg_class WHERE relname LIKE 'pgbench_%' AND relkind IN ('r', 'i') ORDER BY pg_relation_size(oid) DESC")
	return err
}

// tell the host a fact on a line of its own.
func tell(word string, fact any) {
	text, err := json.Marshal(fact)
	if err != nil {
		panic(err) // numbers and names
	}
	fmt.Printf("%s %s\n", word, text)
}
