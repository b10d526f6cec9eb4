//go:build guest

// Command guest measures in the virtual machine of the Ceph benchmark. It creates three
// databases on one pool, two of them on images of one Ceph cluster, and runs pgbench on
// one after the other.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/pgstorage/pgstorage/test/bench/ceph/cell"
	"github.com/pgstorage/pgstorage/test/bench/measure"
	"github.com/pgstorage/pgstorage/test/vm/ceph/cluster"
	"github.com/pgstorage/pgstorage/test/vm/ceph/job"
	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

func main() {
	ctx := context.Background()
	if err := run(ctx); err != nil {
		fmt.Println("bench ceph:", err)
		cluster.Explain(ctx)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var plan measure.Plan
	var dataset server.Job
	var ceph job.Job
	if err := errors.Join(measure.Read(measure.PlanFile, &plan), measure.Read(cell.DatasetFile, &dataset), measure.Read(cell.CephFile, &ceph)); err != nil {
		return err
	}
	b := &bench{plan: plan, databases: map[string]*database{}}
	if err := b.open(ctx, dataset, ceph); err != nil {
		return err
	}
	if err := b.fill(ctx); err != nil {
		return err
	}
	for round := range plan.Rounds {
		if err := b.round(ctx, round); err != nil {
			return err
		}
	}
	total, err := measure.Disk(plan.Serial)
	measure.Print("total", total)
	return errors.Join(err, b.stop(ctx))
}

// stop the databases while the OSDs of their images run.
func (b *bench) stop(ctx context.Context) error {
	for _, d := range b.databases {
		if err := d.instance.Stop(ctx); err != nil {
			return err
		}
		folders := []string{d.instance.Data, d.instance.WAL}
		for i, device := range d.images {
			if err := b.cluster.Unmount(ctx, device, folders[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// open the pool, with the volumes of all databases.
func (b *bench) open(ctx context.Context, dataset server.Job, ceph job.Job) error {
	if err := dataset.Converge(ctx); err != nil {
		return err
	}
	if err := (server.Job{Storage: ceph.Storage}).Converge(ctx); err != nil {
		return err
	}
	// The parent of the default's zvols has no property set.
	for _, side := range ceph.Sides {
		if side.Name == cell.Sides[cell.Default] {
			if _, err := server.Run(ctx, "zfs", "create", side.Zvols.Parent); err != nil {
				return err
			}
		}
	}
	var err error
	if b.cluster, err = cluster.Open(ctx, ceph); err != nil {
		return err
	}
	if err := b.onDatasets(ctx, dataset); err != nil {
		return err
	}
	for _, side := range ceph.Sides {
		if err := b.onImages(ctx, side); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) onDatasets(ctx context.Context, j server.Job) error {
	d := &database{instance: server.Instance{Data: "/srv/dataset/data", WAL: "/srv/dataset/wal", Settings: j.Parameters}}
	b.databases[cell.Dataset] = d
	if _, err := server.Volume(ctx, b.plan.Pool+"/pgdata/pvc-data", d.instance.Data); err != nil {
		return err
	}
	_, err := server.Volume(ctx, b.plan.Pool+"/pgwal/pvc-wal", d.instance.WAL)
	return err
}

func (b *bench) onImages(ctx context.Context, side job.Side) error {
	d := &database{side: side.Name, instance: server.Instance{Data: "/srv/" + side.Name + "/data", Settings: side.Parameters}}
	for name, s := range cell.Sides {
		if s == side.Name {
			b.databases[name] = d
		}
	}
	device, err := b.cluster.Mount(ctx, side, "data", side.Images.DataBytes, d.instance.Data)
	if err != nil {
		return err
	}
	d.images = append(d.images, device)
	if side.Images.WALBytes == 0 {
		return nil
	}
	d.instance.WAL = "/srv/" + side.Name + "/wal"
	device, err = b.cluster.Mount(ctx, side, "wal", side.Images.WALBytes, d.instance.WAL)
	d.images = append(d.images, device)
	return err
}

// fill one database, have the others hold the same pages, and serve all of them.
func (b *bench) fill(ctx context.Context) error {
	var facts cell.Facts
	var err error
	if facts.Versions, err = measure.ReadVersions(ctx); err != nil {
		return err
	}
	if facts.Ceph, err = cluster.Version(ctx); err != nil {
		return err
	}
	first := b.databases[cell.Default].instance
	if facts.DatabaseBytes, err = measure.Fill(ctx, b.plan.Scale, first); err != nil {
		return err
	}
	for _, name := range []string{cell.Dataset, cell.Ours} {
		if err := measure.Clone(ctx, first, b.databases[name].instance); err != nil {
			return err
		}
	}
	if facts.Settings, err = b.cluster.Settings(ctx); err != nil {
		return err
	}
	measure.Print("facts", facts)
	for i, name := range cell.Configurations() {
		b.databases[name].port = strconv.Itoa(5432 + i)
		if err := measure.Serve(ctx, b.databases[name].instance, b.databases[name].port); err != nil {
			return err
		}
	}
	return nil
}
