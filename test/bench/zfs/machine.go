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
	"github.com/pgstorage/pgstorage/test/bench/harness"
	"github.com/pgstorage/pgstorage/test/bench/zfs/cell"
	"github.com/pgstorage/pgstorage/test/vm/postgres/declare"
	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

const (
	diskBytes = 12 << 30
	// overhead of a machine and of a run: filling, warm-up, checkpoints.
	machineTime, runTime = 20 * time.Minute, time.Minute
)

// measured is everything that a run found out.
type measured struct {
	cells []cell.Cell
	// turns of the matrix.
	turns       []cell.Cell
	facts       cell.Facts
	accelerator string
	// parameters that were computed for ours.
	parameters map[string]string
	took       time.Duration
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
	dir, err := os.MkdirTemp("", "benchzfs")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system's temporary folder
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	job, err := declared(o)
	if err != nil {
		return nil, err
	}
	payload, err := harness.Payload(ctx, dir, map[string]string{"run": "test/bench/zfs/guest"}, map[string]any{cell.PlanFile: o.plan, cell.JobFile: job})
	if err != nil {
		return nil, err
	}
	disk, err := slowdisk.Start(ctx, slowdisk.Options{Path: filepath.Join(dir, "disk"), SizeBytes: diskBytes, Flush: o.latency, Rate: o.rate * 1e6})
	if err != nil {
		return nil, err
	}
	image, err := vm.FindImage(ctx)
	if err != nil {
		return nil, err
	}
	m := &measured{accelerator: image.Accelerator, parameters: job.Parameters}
	var total cell.Counters
	runs := time.Duration(o.plan.Rounds*len(o.plan.Clients)*4 + len(o.plan.Matrix.Turns))
	err = harness.Boot(ctx, vm.Options{
		Image: image, Dir: dir, Payload: payload, Memory: o.memory,
		Disks:   []vm.Disk{{Serial: o.plan.Serial, NBD: disk.Socket}},
		Timeout: machineTime + runs*(runTime+time.Duration(o.plan.Seconds)*time.Second),
	}, harness.Told{
		"cell":  harness.Each(func(c cell.Cell) { m.cells = append(m.cells, shown(c, c.Round+1)) }),
		"turn":  harness.Each(func(c cell.Cell) { m.turns = append(m.turns, shown(c, c.Round)) }),
		"facts": harness.Into(&m.facts), "total": harness.Into(&total),
	})
	disk.Close()
	after, errHost := hosttime.Now()
	m.took, m.elsewhere = time.Since(begin), after.Elsewhere(before)
	return m, errors.Join(err, errHost, harness.Confirm(disk, total.WriteBytes, total.Flushes))
}

// declared is the profile and the cluster that are measured. Half of the machine's
// memory is the cluster's, as a container's limit would be.
func declared(o options) (server.Job, error) {
	return declare.Cluster{
		Pool: o.plan.Pool, Serial: o.plan.Serial, ARCMax: o.arc,
		MemoryBytes: int64(o.memory) << 20 / 2, DataBytes: diskBytes / 2, WALBytes: diskBytes / 4,
	}.Job(vm.Root())
}

// shown on the screen.
func shown(c cell.Cell, round int) cell.Cell {
	fmt.Printf("round %d  %-29s  durable=%-5v  clients=%-2d  %7.1f TPS  %8.0f B/tx  %.3f flushes/tx  busy %.0f%%\n",
		round, c.Configuration, c.Durable, c.Clients, c.TPS, perTransaction(c, c.Settled.WriteBytes), perTransaction(c, c.Running.Flushes), c.Busy*100)
	return c
}

func perTransaction(c cell.Cell, n int64) float64 {
	return float64(n) / float64(max(1, c.Transactions))
}
