//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	//nolint:depguard // a measurement in a virtual machine, as test/bench is one at an API server
	//nolint:depguard // the same
	//nolint:depguard // the same
	//nolint:depguard // the same

	"github.com/pgstorage/pgstorage/internal/testing/hosttime"
	"github.com/pgstorage/pgstorage/internal/testing/slowdisk"
	"github.com/pgstorage/pgstorage/internal/testing/vm"
	"github.com/pgstorage/pgstorage/test/bench/ceph/cell"
	"github.com/pgstorage/pgstorage/test/bench/harness"
	gauge "github.com/pgstorage/pgstorage/test/bench/measure"
	cephdeclare "github.com/pgstorage/pgstorage/test/vm/ceph/declare"
	"github.com/pgstorage/pgstorage/test/vm/ceph/job"
	"github.com/pgstorage/pgstorage/test/vm/postgres/declare"
	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

const (
	diskBytes = 48 << 30
	// memoryBytes of each cluster of Postgres, as a container's limit would be.
	memoryBytes = 512 << 20
	// Volumes of each database. The default has one for both.
	dataBytes, walBytes = 2 << 30, 1 << 30
	// model of the emulated processor: with the instruction that Ceph sums by.
	model = "Nehalem"
	// Overhead of a machine and of a run: the cluster, filling, warm-up, checkpoints.
	machineTime, runTime = 40 * time.Minute, time.Minute
)

// measured is everything that a run found out.
type measured struct {
	cells       []cell.Cell
	facts       cell.Facts
	accelerator string
	// dataset and ours are the parameters that were computed.
	dataset, ours map[string]string
	took          time.Duration
	// elsewhere is the part of the host's processors that other programs took.
	elsewhere float64
}

// measure every cell in one boot of one machine.
func measure(ctx context.Context, o options) (*measured, error) {
	before, err := hosttime.Now()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	dir, err := os.MkdirTemp("", "benchceph")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system's temporary folder
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dataset, ceph, err := declared(o)
	if err != nil {
		return nil, err
	}
	payload, err := harness.Payload(ctx, dir, map[string]string{"run": "test/bench/ceph/guest"}, map[string]any{cell.PlanFile: o.plan, cell.DatasetFile: dataset, cell.CephFile: ceph})
	if err != nil {
		return nil, err
	}
	image, err := vm.FindCephImage(ctx)
	if err != nil {
		return nil, err
	}
	m := &measured{accelerator: image.Accelerator, dataset: dataset.Parameters, ours: ceph.Sides[0].Parameters}
	disk, err := slowdisk.Start(ctx, slowdisk.Options{Path: filepath.Join(dir, "disk"), SizeBytes: diskBytes, Flush: o.latency})
	if err != nil {
		return nil, err
	}
	runs := time.Duration(o.plan.Rounds * len(o.plan.Clients) * 2 * len(cell.Configurations()))
	var total gauge.Counters
	err = harness.Boot(ctx, vm.Options{
		Image: image, Dir: dir, Payload: payload, Memory: o.memory, Model: model,
		Disks:   []vm.Disk{{Serial: o.plan.Serial, NBD: disk.Socket}},
		Timeout: machineTime + runs*(runTime+time.Duration(o.plan.Seconds)*time.Second),
	}, harness.Told{
		"cell": harness.Each(func(c cell.Cell) {
			m.cells = append(m.cells, c)
			fmt.Printf("round %d  %-13s  durable=%-5v  clients=%-2d  %7.1f TPS  %+v B/tx  busy %.0f%%\n",
				c.Round+1, c.Configuration, c.Durable, c.Clients, c.TPS, perTransaction(c), c.Busy*100)
		}),
		"facts": harness.Into(&m.facts), "total": harness.Into(&total),
	})
	disk.Close()
	after, errHost := hosttime.Now()
	m.took, m.elsewhere = time.Since(begin), after.Elsewhere(before)
	return m, errors.Join(err, errHost, harness.Confirm(disk, total.WriteBytes, total.Flushes))
}

// declared are a profile ZFSLocalPV, which makes the pool, and a profile CephRBD on the
// same pool with two OSDs and two copies; beside its side the default's, with as much.
func declared(o options) (server.Job, job.Job, error) {
	dataset, err := declare.Cluster{
		Pool: o.plan.Pool, Serial: o.plan.Serial, ARCMax: o.arc, MemoryBytes: memoryBytes, DataBytes: dataBytes, WALBytes: walBytes,
	}.Job(vm.Root())
	if err != nil {
		return dataset, job.Job{}, err
	}
	ceph, err := cephdeclare.Stack{
		Pool: o.plan.Pool, ARCMax: o.arc, OSDs: 2, OSDSize: "5Gi", Copies: 2, MemoryBytes: memoryBytes, DataBytes: dataBytes, WALBytes: walBytes,
	}.Job(vm.Root())
	if err != nil {
		return dataset, ceph, err
	}
	ceph.Sides = append(ceph.Sides, asItComes(o.plan.Pool, ceph.Sides[0]))
	return dataset, ceph, nil
}

// asItComes is the side of those who set nothing but sizes and copies: ZFS' own
// volblocksize and properties, Ceph's own options, the image features of Rook's example,
// Postgres' own settings, WAL and data on one volume.
func asItComes(pool string, ours job.Side) job.Side {
	name := cell.Sides[cell.Default]
	return job.Side{
		Name:  name,
		Zvols: job.Zvols{Parent: pool + "/" + name, Thick: true, Count: ours.Zvols.Count, Bytes: ours.Zvols.Bytes, DeviceClass: name},
		Pool:  job.Pool{Name: name, Copies: ours.Pool.Copies, FailureDomain: ours.Pool.FailureDomain},
		Images: job.Images{
			Features: []string{"layering"}, FSType: ours.Images.FSType, DataBytes: ours.Images.DataBytes + ours.Images.WALBytes,
		},
	}
}

// perTransaction has the layers' bytes of each.
func perTransaction(c cell.Cell) cell.Layers {
	n := max(1, c.Transactions)
	w := c.Written
	return cell.Layers{Postgres: w.Postgres / n, RBD: w.RBD / n, OSD: w.OSD / n, Zvol: w.Zvol / n, Disk: w.Disk / n}
}
