//go:build linux

// Command benchzfs measures what the profile ZFSLocalPV and the computed
// parameters are worth, against ZFS' and Postgres' defaults, and which property of a
// dataset matters: in a virtual machine, on one disk whose flush takes a known time, in
// turns within one run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	//nolint:depguard // a measurement

	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/test/bench/harness"
	"github.com/pgstorage/pgstorage/test/bench/zfs/cell"
)

// options of a run.
type options struct {
	plan    cell.Plan
	repeats int
	seed    uint64
	latency time.Duration
	rate    int64
	arc     string
	memory  int
	out     string
	html    string
}

func main() {
	harness.Main(func(ctx context.Context, args []string) error {
		o, err := parse(args)
		if err != nil {
			return err
		}
		return run(ctx, o)
	})
}

func parse(args []string) (options, error) {
	o := options{plan: cell.Plan{Serial: "bench", Pool: "bench", Clients: []int{1, 4, 16}}}
	flags := flag.NewFlagSet("benchzfs", flag.ContinueOnError)
	flags.IntVar(&o.plan.Rounds, "rounds", 3, "times that each run of the defaults and of the profile is repeated, in another order; 0 leaves them out")
	flags.IntVar(&o.repeats, "repeats", 5, "times that each variant of the matrix is run, in an order by lot; 0 leaves the matrix out")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the matrix's order")
	flags.IntVar(&o.plan.Seconds, "seconds", 8, "duration of each measured run")
	flags.IntVar(&o.plan.WarmUp, "warm-up", 3, "seconds of load before each measured run")
	flags.Var((*harness.Clients)(&o.plan.Clients), "clients", "numbers of clients")
	flags.IntVar(&o.plan.Matrix.Clients, "matrix-clients", 4, "number of clients of the matrix")
	flags.StringVar(&o.plan.Script, "script", pgbench.TPCB, "built-in script of pgbench")
	flags.IntVar(&o.plan.Scale, "scale", 40, "scale of pgbench: 40 is a database larger than shared_buffers and ARC together")
	flags.DurationVar(&o.latency, "flush", 5*time.Millisecond, "time that a flush of the disk takes")
	flags.Int64Var(&o.rate, "rate", 0, "MB that the disk writes in a second; 0 is without limit")
	flags.StringVar(&o.arc, "arc", "256Mi", "the profile's arcMax, for all configurations; empty is ZFS' own")
	flags.IntVar(&o.memory, "memory", 2048, "MiB of the virtual machine")
	flags.StringVar(&o.out, "out", "docs/benchmarks", "folder for the tables in zfs.md, the plots, and every run as zfs.jsonl and zfs-matrix.jsonl; empty writes nothing")
	flags.StringVar(&o.html, "html", "bin/zfs-matrix.html", "page with all of the matrix; empty writes none")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.plan.Rounds < 0 || o.repeats < 0 || o.plan.Rounds+o.repeats < 1 {
		return o, errors.New("-rounds and -repeats are at least 0, and one of them is more")
	}
	if o.plan.Seconds < 1 || o.plan.WarmUp < 1 || o.plan.Scale < 1 || o.plan.Matrix.Clients < 1 {
		return o, errors.New("-seconds, -warm-up, -scale and -matrix-clients are at least 1")
	}
	return o, o.addMatrix()
}

func run(ctx context.Context, o options) error {
	m, err := measure(ctx, o)
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := m.keep(o.out); err != nil {
			return err
		}
	}
	// What was not asked for leaves its part of the page as it is.
	if o.repeats > 0 {
		if err := m.showMatrix(o); err != nil {
			return err
		}
	}
	if o.plan.Rounds == 0 {
		return nil
	}
	f := summarise(m.cells)
	text := page(o, m, f)
	fmt.Println(text)
	if err := f.benchmark(os.Stdout); err != nil {
		return err
	}
	if o.out != "" {
		if err := write(o.out, text, f); err != nil {
			return err
		}
	}
	return f.judge()
}
