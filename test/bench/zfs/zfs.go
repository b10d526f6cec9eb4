//go:build linux

// Package zfs measures what the profile ZFSLocalPV and the derived parameters are worth against
// the defaults of ZFS and Postgres. It also measures which property of a dataset matters. It
// compares in turns, in one virtual machine, on one disk whose flush takes a known time.
package zfs

import (
	"context"
	"errors"
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/test/bench/harness"
	"github.com/pgstorage/pgstorage/test/bench/measure"
	"github.com/pgstorage/pgstorage/test/bench/zfs/cell"
)

// Benchmark of the profile ZFSLocalPV.
var Benchmark = harness.Benchmark{Name: "zfs", Summary: "the profile ZFSLocalPV against the defaults, and each of its properties", Run: run}

// options of a run.
type options struct {
	harness.Lab
	matrix  cell.Matrix
	repeats int
	seed    uint64
	// rate of the disk, in MB a second; 0 sets no limit.
	rate int64
	html string
}

func parse(args []string) (options, error) {
	o := options{Lab: harness.Lab{
		Plan: measure.Plan{
			Serial: "bench", Pool: "bench", Script: pgbench.TPCB, Scale: 40,
			Rounds: 3, Clients: []int{1, 4, 16}, Seconds: 8, WarmUp: 3,
		},
		Flush: 5 * time.Millisecond, ARC: "256Mi", Memory: 2048,
	}}
	flags := harness.Flags("zfs")
	o.Register(flags)
	flags.Lookup("rounds").Usage = "times that each run of the defaults and of the profile is repeated, in another order; 0 skips them"
	flags.Lookup("scale").Usage = "scale of pgbench; a database of scale 40 is larger than shared_buffers and ARC together"
	flags.IntVar(&o.repeats, "repeats", 5, "times that each variant of the matrix is run, in a random order; 0 skips the matrix")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the matrix's order")
	flags.IntVar(&o.matrix.Clients, "matrix-clients", 4, "number of clients of the matrix")
	flags.Int64Var(&o.rate, "rate", 0, "MB that the disk writes in a second; 0 sets no limit")
	flags.StringVar(&o.html, "html", "bin/zfs-matrix.html", "page with the whole report of the matrix; empty writes none")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.Plan.Rounds < 0 || o.repeats < 0 || o.Plan.Rounds+o.repeats < 1 {
		return o, errors.New("-rounds and -repeats are at least 0, and one of them is more")
	}
	if o.Plan.Seconds < 1 || o.Plan.WarmUp < 1 || o.Plan.Scale < 1 || o.matrix.Clients < 1 {
		return o, errors.New("-seconds, -warm-up, -scale and -matrix-clients are at least 1")
	}
	return o, o.addMatrix()
}

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	m, err := measureAll(ctx, o)
	if err != nil {
		return err
	}
	// The runs are kept even if the analysis fails.
	if o.Out != "" {
		if err := m.saveRuns(o.Out); err != nil {
			return err
		}
	}
	if o.repeats > 0 {
		if err := m.publishMatrix(o); err != nil {
			return err
		}
	}
	if o.Plan.Rounds == 0 {
		return nil
	}
	return outcome(o, m).Publish(o.Out)
}
