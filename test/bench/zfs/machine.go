//go:build linux

package zfs

import (
	"context"
	"fmt"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/repository"
	"github.com/pgstorage/pgstorage/internal/testing/vm"
	"github.com/pgstorage/pgstorage/test/bench/harness"
	"github.com/pgstorage/pgstorage/test/bench/measure"
	"github.com/pgstorage/pgstorage/test/bench/zfs/cell"
	"github.com/pgstorage/pgstorage/test/vm/postgres/declare"
	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

const (
	diskBytes = 12 << 30
	// overhead bounds filling the databases.
	overhead = 20 * time.Minute
)

// measured is everything that a run found.
type measured struct {
	harness.Conditions
	cells []cell.Cell
	// turns of the matrix.
	turns []cell.Cell
	facts cell.Facts
	// parameters that were derived for ours.
	parameters map[string]string
}

// measureAll measures every cell in one boot of one machine.
func measureAll(ctx context.Context, o options) (*measured, error) {
	job, err := declared(o)
	if err != nil {
		return nil, err
	}
	image, err := vm.FindImage(ctx)
	if err != nil {
		return nil, err
	}
	m := &measured{parameters: job.Parameters}
	m.Conditions, err = o.Run(ctx, harness.Guest{
		Folder: "test/bench/zfs/guest", Image: image, DiskBytes: diskBytes, Rate: o.rate * 1e6,
		Files: map[string]any{measure.PlanFile: cell.Plan{Plan: o.Plan, Matrix: o.matrix}, cell.JobFile: job},
		Runs:  o.Plan.Rounds*len(o.Plan.Clients)*4 + len(o.matrix.Turns), Overhead: overhead,
		Facts: harness.Facts{
			"facts": harness.Into(&m.facts),
			"cell":  harness.Each(func(c cell.Cell) { m.cells = append(m.cells, shown(c, c.Round+1)) }),
			"turn":  harness.Each(func(c cell.Cell) { m.turns = append(m.turns, shown(c, c.Round)) }),
		},
	})
	return m, err
}

// declared has the profile and the cluster to measure. The cluster gets half of the
// machine's memory, as by a container's limit.
func declared(o options) (server.Job, error) {
	return declare.Cluster{
		Pool: o.Plan.Pool, Serial: o.Plan.Serial, ARCMax: o.ARC,
		MemoryBytes: int64(o.Memory) << 20 / 2, DataBytes: diskBytes / 2, WALBytes: diskBytes / 4,
	}.Job(repository.Root())
}

// shown prints a run.
func shown(c cell.Cell, round int) cell.Cell {
	fmt.Printf("round %d  %-29s  durable=%-5v  clients=%-2d  %7.1f TPS  %8.0f B/tx  %.3f flushes/tx  busy %.0f%%\n",
		round, c.Configuration, c.Durable, c.Clients, c.TPS, c.PerTransaction(c.Settled.WriteBytes), c.PerTransaction(c.Running.Flushes), c.Busy*100)
	return c
}
