//go:build linux

// Package s3nbd measures the profile S3NBD: Postgres on a pool on network block devices of a
// real ZeroFS. Postgres runs in a virtual machine, and the store is a real S3 server on this
// host with a known latency. The benchmark measures what a commit costs, what the derived
// commit_delay is worth, and which cache or store serves repeated reads.
package s3nbd

import (
	"context"
	"errors"
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/test/bench/harness"
)

// Benchmark of the profile S3NBD.
var Benchmark = harness.Benchmark{Name: "s3nbd", Summary: "the profile S3NBD: commits, commit_delay, and who serves reads", Run: run}

// options of a run.
type options struct {
	rounds, seconds, turns, turnSeconds, reads int
	budget                                     time.Duration
	clients                                    harness.Clients
	script                                     string
	scale                                      int
	latency                                    time.Duration
	arc, smallARC                              string
	memory                                     int
	out                                        string
}

// delayed is the number of clients for the mark of commit_delay, and for the other delays
// that are compared.
const delayed = 16

func parse(args []string) (options, error) {
	o := options{clients: harness.Clients{1, 4, 16, 50}}
	flags := harness.Flags("s3nbd")
	flags.IntVar(&o.turns, "turns", 8, "times that each commit_delay is measured on the host, at as many clients as its mark is for, in another order; at least 3")
	flags.IntVar(&o.turnSeconds, "turn-seconds", 8, "duration of each run on the host")
	flags.IntVar(&o.rounds, "rounds", 3, "times that each run in the machine that writes is repeated, in another order")
	flags.IntVar(&o.seconds, "seconds", 5, "duration of each run in the machine")
	flags.DurationVar(&o.budget, "budget", 20*time.Minute, "no round begins with which all would take longer")
	flags.IntVar(&o.reads, "reads", 2, "times that each run that only reads is repeated; 0 leaves them out")
	flags.Var(&o.clients, "clients", "numbers of clients")
	flags.StringVar(&o.script, "script", pgbench.SimpleUpdate, "built-in script of pgbench")
	flags.IntVar(&o.scale, "scale", 12, "scale of pgbench: 12 is a database larger than shared_buffers and the small ARC together")
	flags.DurationVar(&o.latency, "latency", 20*time.Millisecond, "time that each request to the store takes more than by itself")
	flags.StringVar(&o.arc, "arc", "256Mi", "the profile's arcMax")
	flags.StringVar(&o.smallARC, "small-arc", "72Mi", "arcMax where reads are to leave the ARC")
	flags.IntVar(&o.memory, "memory", 2304, "MiB of the virtual machine")
	flags.StringVar(&o.out, "out", "docs/benchmarks", "folder for the tables in s3nbd.md, the plots, and every run as s3nbd.jsonl; empty writes nothing")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.rounds < 1 || o.turns < 3 || o.seconds < 1 || o.turnSeconds < 1 || o.reads < 0 || o.scale < 1 || o.latency < 0 {
		return o, errors.New("-rounds, -seconds, -turn-seconds and -scale are at least 1, -turns 3, -reads and -latency at least 0")
	}
	return o, nil
}

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
