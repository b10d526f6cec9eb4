//go:build linux

package ceph

import (
	"context"
	"fmt"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/repository"
	"github.com/pgstorage/pgstorage/internal/testing/vm"
	"github.com/pgstorage/pgstorage/test/bench/ceph/cell"
	"github.com/pgstorage/pgstorage/test/bench/harness"
	"github.com/pgstorage/pgstorage/test/bench/measure"
	cephdeclare "github.com/pgstorage/pgstorage/test/vm/ceph/declare"
	"github.com/pgstorage/pgstorage/test/vm/ceph/job"
	"github.com/pgstorage/pgstorage/test/vm/postgres/declare"
	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

const (
	diskBytes = 48 << 30
	// memoryBytes of each cluster of Postgres, as a container's limit would be.
	memoryBytes = 512 << 20
	// Volumes of each database. The default has one volume for both.
	dataBytes, walBytes = 2 << 30, 1 << 30
	// model of the emulated processor: with the instruction that Ceph sums by.
	model = "Nehalem"
	// overhead bounds creating the cluster and filling the databases.
	overhead = 40 * time.Minute
)

// measured is everything that a run found.
type measured struct {
	harness.Conditions
	cells []cell.Cell
	facts cell.Facts
	// dataset and ours are the derived parameters.
	dataset, ours map[string]string
}

// measureAll measures every cell in one boot of one machine.
func measureAll(ctx context.Context, lab harness.Lab) (*measured, error) {
	dataset, ceph, err := declared(lab)
	if err != nil {
		return nil, err
	}
	image, err := vm.FindCephImage(ctx)
	if err != nil {
		return nil, err
	}
	m := &measured{dataset: dataset.Parameters, ours: ceph.Sides[0].Parameters}
	m.Conditions, err = lab.Run(ctx, harness.Guest{
		Folder: "test/bench/ceph/guest", Image: image, Model: model, DiskBytes: diskBytes,
		Files: map[string]any{measure.PlanFile: lab.Plan, cell.DatasetFile: dataset, cell.CephFile: ceph},
		Runs:  lab.Plan.Rounds * len(lab.Plan.Clients) * 2 * len(cell.Configurations()), Overhead: overhead,
		Facts: harness.Facts{"facts": harness.Into(&m.facts), "cell": harness.Each(func(c cell.Cell) {
			m.cells = append(m.cells, c)
			fmt.Printf("round %d  %-13s  durable=%-5v  clients=%-2d  %7.1f TPS  %+v B/tx  busy %.0f%%\n",
				c.Round+1, c.Configuration, c.Durable, c.Clients, c.TPS, c.WrittenPerTransaction(), c.Busy*100)
		})},
	})
	return m, err
}

// declared has a profile ZFSLocalPV, which creates the pool, and a profile CephRBD on the
// same pool with two OSDs and two copies. The default's side has as many OSDs and copies.
func declared(lab harness.Lab) (server.Job, job.Job, error) {
	dataset, err := declare.Cluster{
		Pool: lab.Plan.Pool, Serial: lab.Plan.Serial, ARCMax: lab.ARC, MemoryBytes: memoryBytes, DataBytes: dataBytes, WALBytes: walBytes,
	}.Job(repository.Root())
	if err != nil {
		return dataset, job.Job{}, err
	}
	ceph, err := cephdeclare.Stack{
		Pool: lab.Plan.Pool, ARCMax: lab.ARC, OSDs: 2, OSDSize: "5Gi", Copies: 2, MemoryBytes: memoryBytes, DataBytes: dataBytes, WALBytes: walBytes,
	}.Job(repository.Root())
	if err != nil {
		return dataset, ceph, err
	}
	ceph.Sides = append(ceph.Sides, asItComes(lab.Plan.Pool, ceph.Sides[0]))
	return dataset, ceph, nil
}

// asItComes is a side where only sizes and copies are set. It has the defaults of ZFS, Ceph
// and Postgres, the image features of Rook's example, and WAL and data on one volume.
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
