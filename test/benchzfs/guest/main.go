//go:build guest

// Command guest measures in the virtual machine of the ZFS benchmark: it makes
// both databases on one pool, and runs pgbench on one and the other in turn.
package main

import (
	"context"
	"encoding/json"
	"fmt"
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
	for _, name := range []string{cell.Default, cell.Ours} {
		begin := time.Now()
		if facts.DatabaseBytes[name], err = fill(ctx, plan, instances[name]); err != nil {
			return err
		}
		fmt.Printf("%s: filled with %d MB in %s\n", name, facts.DatabaseBytes[name]/1e6, time.Since(begin).Round(time.Second))
	}
	if facts.Datasets, err = properties(ctx, plan.Pool); err != nil {
		return err
	}
	tell("facts", facts)
	b := bench{plan: plan, instances: instances}
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
	facts := cell.Facts{DatabaseBytes: map[string]int64{}}
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

// fill a database, and return its size. A low fillfactor makes it large with few
// rows, whose number is what an emulated processor takes its time for.
func fill(ctx context.Context, plan cell.Plan, instance server.Instance) (int64, error) {
	if err := instance.Init(ctx); err != nil {
		return 0, err
	}
	if _, err := instance.Start(ctx); err != nil {
		return 0, err
	}
	if _, err := server.AsPostgres(ctx, "pgbench", "--initialize", "--quiet", "--scale="+strconv.Itoa(plan.Scale), "--fillfactor="+strconv.Itoa(plan.Fillfactor)); err != nil {
		return 0, err
	}
	size, err := server.AsPostgres(ctx, "psql", "-Atc", "SELECT pg_database_size('postgres')")
	if err != nil {
		return 0, err
	}
	bytes, err := strconv.ParseInt(strings.TrimSpace(size), 10, 64)
	if err != nil {
		return 0, err
	}
	return bytes, instance.Stop(ctx)
}

// tell the host a fact on a line of its own.
func tell(word string, fact any) {
	text, err := json.Marshal(fact)
	if err != nil {
		panic(err) // numbers and names
	}
	fmt.Printf("%s %s\n", word, text)
}
