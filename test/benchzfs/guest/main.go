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

	"github.com/pgstorage/pgstorage/test/benchzfs/cell"
	"github.com/pgstorage/pgstorage/test/vm/postgres/measure"
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
	var facts cell.Facts
	if facts.Versions, err = measure.ReadVersions(ctx); err != nil {
		return err
	}
	if err := mountVolumes(ctx, plan.Pool, instances); err != nil {
		return err
	}
	if facts.DatabaseBytes, err = measure.Fill(ctx, plan.Scale, instances[cell.Default]); err != nil {
		return err
	}
	if err := measure.Clone(ctx, instances[cell.Default], instances[cell.Ours]); err != nil {
		return err
	}
	if facts.Datasets, err = properties(ctx, plan.Pool); err != nil {
		return err
	}
	tell("facts", facts)
	b := bench{plan: plan, ports: map[string]string{}}
	for i, name := range []string{cell.Default, cell.Ours} {
		b.ports[name] = strconv.Itoa(5432 + i)
		if err := measure.Serve(ctx, instances[name], b.ports[name]); err != nil {
			return err
		}
	}
	for round := range plan.Rounds {
		if err := b.round(ctx, round); err != nil {
			return err
		}
	}
	total, err := disk(plan.Serial)
	tell("total", total)
	return err
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

// tell the host a fact on a line of its own.
func tell(word string, fact any) {
	text, err := json.Marshal(fact)
	if err != nil {
		panic(err) // numbers and names
	}
	fmt.Printf("%s %s\n", word, text)
}
