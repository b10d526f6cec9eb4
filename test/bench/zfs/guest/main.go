//go:build guest

// Command guest measures in the virtual machine of the ZFS benchmark. It creates the
// databases on one pool and runs pgbench on them in turns.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/pgstorage/pgstorage/test/bench/measure"
	"github.com/pgstorage/pgstorage/test/bench/zfs/cell"
	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

// Databases of both configurations.
const (
	dataOfDefault = "/srv/default"
	dataOfOurs    = "/srv/data"
	walOfOurs     = "/srv/wal"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Println("bench zfs:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var plan cell.Plan
	var job server.Job
	if err := errors.Join(measure.Read(measure.PlanFile, &plan), measure.Read(cell.JobFile, &job)); err != nil {
		return err
	}
	if err := job.Converge(ctx); err != nil {
		return err
	}
	facts, err := fill(ctx, plan)
	if err != nil {
		return err
	}
	if err := pairs(ctx, plan, job, &facts); err != nil {
		return err
	}
	if err := variants(ctx, plan, &facts); err != nil {
		return err
	}
	measure.Print("facts", facts)
	total, err := measure.Disk(plan.Serial)
	measure.Print("total", total)
	return err
}

// fill the database that all others are copied from, on a dataset without any property set.
func fill(ctx context.Context, plan cell.Plan) (facts cell.Facts, err error) {
	if facts.Versions, err = measure.ReadVersions(ctx); err != nil {
		return facts, err
	}
	if _, err := server.Volume(ctx, plan.Pool+"/default", dataOfDefault); err != nil {
		return facts, err
	}
	facts.DatabaseBytes, err = measure.Fill(ctx, plan.Scale, server.Instance{Data: dataOfDefault})
	return facts, err
}

// pairs measures the defaults and the profile's datasets in turns.
func pairs(ctx context.Context, plan cell.Plan, job server.Job, facts *cell.Facts) error {
	if plan.Rounds == 0 {
		return nil
	}
	instances := map[string]server.Instance{
		cell.Default: {Data: dataOfDefault},
		cell.Ours:    {Data: dataOfOurs, WAL: walOfOurs, Settings: job.Parameters},
	}
	// Two volumes below the agent's parents.
	for name, mountpoint := range map[string]string{"pgdata/pvc-data": dataOfOurs, "pgwal/pvc-wal": walOfOurs} {
		if _, err := server.Volume(ctx, plan.Pool+"/"+name, mountpoint); err != nil {
			return err
		}
	}
	if err := measure.Clone(ctx, instances[cell.Default], instances[cell.Ours]); err != nil {
		return err
	}
	var err error
	if facts.Datasets, err = properties(ctx, plan.Pool, "default", "pgdata/pvc-data", "pgwal/pvc-wal"); err != nil {
		return err
	}
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
	return errors.Join(instances[cell.Default].Stop(ctx), instances[cell.Ours].Stop(ctx))
}

// properties of the volumes, once they hold the databases.
func properties(ctx context.Context, pool string, volumes ...string) ([]string, error) {
	if _, err := server.Run(ctx, "zpool", "sync", pool); err != nil {
		return nil, err
	}
	args := []string{
		"get", "-H", "-o", "name,property,value,source",
		"recordsize,compression,atime,relatime,logbias,xattr,primarycache,sync,checksum,compressratio",
	}
	for _, volume := range volumes {
		args = append(args, pool+"/"+volume)
	}
	out, err := server.Run(ctx, "zfs", args...)
	return strings.Split(strings.TrimSpace(out), "\n"), err
}
