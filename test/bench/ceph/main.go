//go:build linux

// Command benchceph measures what the profile CephRBD is worth against Ceph on ZFS as it
// comes, and what both cost against ZFS alone: in a virtual machine with a real Ceph, on
// one disk whose flush takes a known time, in turns within one run; and what each layer
// writes for a transaction.
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
	"github.com/pgstorage/pgstorage/test/bench/ceph/cell"
	"github.com/pgstorage/pgstorage/test/bench/harness"
)

// options of a run.
type options struct {
	plan    cell.Plan
	latency time.Duration
	arc     string
	memory  int
	out     string
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
	o := options{plan: cell.Plan{Serial: "bench", Pool: "bench", Clients: []int{4}}}
	flags := flag.NewFlagSet("benchceph", flag.ContinueOnError)
	flags.IntVar(&o.plan.Rounds, "rounds", 3, "times that each run is repeated, in another order")
	flags.IntVar(&o.plan.Seconds, "seconds", 12, "duration of each measured run")
	flags.IntVar(&o.plan.WarmUp, "warm-up", 4, "seconds of load before each measured run")
	flags.Var((*harness.Clients)(&o.plan.Clients), "clients", "numbers of clients")
	flags.StringVar(&o.plan.Script, "script", pgbench.TPCB, "built-in script of pgbench")
	flags.IntVar(&o.plan.Scale, "scale", 10, "scale of pgbench")
	flags.DurationVar(&o.latency, "flush", 5*time.Millisecond, "time that a flush of the disk takes")
	flags.StringVar(&o.arc, "arc", "512Mi", "the profiles' arcMax, for all configurations")
	flags.IntVar(&o.memory, "memory", 8192, "MiB of the virtual machine")
	flags.StringVar(&o.out, "out", "docs/benchmarks", "folder for ceph.md and every run as ceph.jsonl; empty writes nothing")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.plan.Rounds < 1 || o.plan.Seconds < 1 || o.plan.WarmUp < 1 || o.plan.Scale < 1 {
		return o, errors.New("-rounds, -seconds, -warm-up and -scale are at least 1")
	}
	return o, nil
}

func run(ctx context.Context, o options) error {
	m, err := measure(ctx, o)
	if err != nil {
		return err
	}
	f := summarise(m.cells)
	text := report(o, m, f)
	fmt.Println(text)
	if err := f.benchmark(os.Stdout); err != nil {
		return err
	}
	if o.out != "" {
		if err := save(o.out, text, m); err != nil {
			return err
		}
	}
	return f.judge()
}
