//go:build linux

// Package runner measures what the runner of a PgBenchmark costs. It compares pgbench under the
// runner with the same pgbench called by hand, and with a pgbench that observes nothing. It
// measures in pairs on a Postgres of this machine.
package runner

import (
	"context"
	"errors"
	"time"

	"github.com/pgstorage/pgstorage/test/bench/harness"
)

// Benchmark of the runner.
var Benchmark = harness.Benchmark{Name: "runner", Summary: "what the runner of a PgBenchmark costs against bare pgbench", Run: run}

// options of a run.
type options struct {
	pairs           int
	seconds, warmUp time.Duration
	clients         harness.Clients
	scale           int
	seed            uint64
	parts           bool
	out             string
}

func parse(args []string) (options, error) {
	o := options{clients: harness.Clients{1, 4}}
	flags := harness.Flags("runner")
	flags.IntVar(&o.pairs, "pairs", 40, "pairs of runs for each script and number of clients, of which every other one has a run of plain pgbench too; at least 3")
	flags.DurationVar(&o.seconds, "duration", 4*time.Second, "duration of each measured run, in whole seconds")
	flags.DurationVar(&o.warmUp, "warm-up", 2*time.Second, "load before the first of the measured runs on tables that were filled again, in whole seconds")
	flags.Var(&o.clients, "clients", "numbers of clients")
	flags.IntVar(&o.scale, "scale", 10, "scale of pgbench: 10 fits into shared_buffers, so that nothing but processors limits the rate")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the order")
	flags.BoolVar(&o.parts, "parts", false, "measure in addition what each option by which pgbench observes costs by itself")
	flags.StringVar(&o.out, "out", "docs/benchmarks", "folder for the tables in runner.md, and every run as runner.jsonl; empty writes nothing")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.pairs < 3 || o.scale < 1 || !whole(o.seconds) || !whole(o.warmUp) {
		return o, errors.New("-pairs is at least 3, -scale at least 1, -duration and -warm-up are whole seconds, at least one")
	}
	return o, nil
}

func whole(d time.Duration) bool { return d >= time.Second && d%time.Second == 0 }

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	m, err := measure(ctx, o)
	if err != nil {
		return err
	}
	return outcome(o, m).Publish(o.out)
}
