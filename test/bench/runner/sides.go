//go:build linux

package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/record"
	"github.com/pgstorage/pgstorage/internal/bench/runner"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
	"github.com/pgstorage/pgstorage/internal/testing/postgres"
)

// Sides that are compared.
const (
	// Runner is the runner of a PgBenchmark.
	Runner = "runner"
	// Bare is pgbench called by hand, with the options that the runner calls it with.
	Bare = "bare"
	// Plain is pgbench called by hand without the options that observe: it reports only a rate.
	Plain = "plain"
)

// observing is what the runner asks of pgbench beyond a rate. Each part can be a side of
// its own.
var observing = map[string]func(*pgbench.RunOptions){
	"log":        func(o *pgbench.RunOptions) { o.LogPrefix = "transactions" },
	"progress":   func(o *pgbench.RunOptions) { o.Progress = time.Second },
	"statements": func(o *pgbench.RunOptions) { o.Statements = true },
}

// scripts that are compared, by the API's name.
var scripts = map[v1alpha1.Script]string{
	v1alpha1.ScriptSelectOnly:   pgbench.SelectOnly,
	v1alpha1.ScriptSimpleUpdate: pgbench.SimpleUpdate,
}

// tier of all runs. Where no commit waits for a disk there are the most transactions, so a cost
// of each transaction is largest.
const tier = v1alpha1.DurabilityAsync

// Run that was measured.
type Run struct {
	// Pair from 1, and Place in it from 1. A run of pair 0 does not count.
	Pair, Place  int
	Script       v1alpha1.Script
	Clients      int
	Side         string
	TPS          float64
	Transactions int64
	// SamplingRate of the log: the part of the transactions that it had. Where there is
	// none it is zero.
	SamplingRate float64 `json:",omitempty"`
}

// bench runs both sides on one database.
type bench struct {
	options
	server   *postgres.Server
	reporter runner.Reporter
	// dir takes the logs.
	dir string
}

// carryOut runs a block: the runner's whole way, from filling the tables to its last report. In
// the break after each of its runs it runs those of the other sides that are due.
func (b bench) carryOut(ctx context.Context, todo block, done func(Run)) error {
	if err := b.sql(ctx, database, "CHECKPOINT"); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	due := todo.runs
	sampled := map[int]float64{}
	runner := b.runner(todo)
	runner.Keeper = breaks(func(data map[string][]byte) error {
		err := measuredByRunner(data, &due[0])
		sampled[due[0].Clients] = due[0].SamplingRate
		for ; err == nil; err = b.other(ctx, &due[0]) {
			if due[0].Pair > 0 {
				done(due[0])
			}
			if due = due[1:]; len(due) == 0 || due[0].Side == Runner {
				return nil
			}
			due[0].SamplingRate = sampled[due[0].Clients]
		}
		cancel(err)
		return err
	})
	_, err := runner.Run(ctx)
	if err == nil && len(due) > 0 {
		err = fmt.Errorf("the runner has left out %d runs", len(due))
	}
	return err
}

func (b bench) runner(todo block) *runner.Runner {
	clients := make([]int32, 0, len(b.clients))
	for _, n := range b.clients {
		clients = append(clients, int32(n))
	}
	return &runner.Runner{
		Spec: spec.Spec{Cluster: "bench", Durability: tier, Pgbench: v1alpha1.PgbenchSpec{
			Scale: int32(b.scale), Clients: clients, Script: todo.script, Duration: b.seconds.String(), WarmUp: b.warmUp.String(),
			Repeats: int32(todo.repeats), MaxTries: 1, Protocol: v1alpha1.ProtocolSimple, Integrity: v1alpha1.IntegrityBasic,
		}},
		Reporter: b.reporter, Attempt: "bench", Bin: b.server.Bin, WorkDir: b.dir, Processors: runtime.NumCPU(),
		Clock: clock.RealClock{}, Connecting: runner.Connecting,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
}

// breaks is the keeper of a record, which the runner waits for after each of its runs.
type breaks func(record map[string][]byte) error

// Keep takes as long as the other sides' runs do, which the runner's patience for a
// record does not bound.
func (b breaks) Keep(_ context.Context, record map[string][]byte) (string, error) {
	return "", b(record)
}

// measuredByRunner is the newest run of its record.
func measuredByRunner(data map[string][]byte, r *Run) error {
	kept, err := record.Decode(data)
	if err != nil || len(kept.Runs) == 0 {
		return errors.Join(errors.New("a record without a run"), err)
	}
	newest := kept.Runs[len(kept.Runs)-1]
	if newest.Failure != "" {
		return fmt.Errorf("the runner: %s", newest.Failure)
	}
	if newest.Clients != r.Clients {
		return fmt.Errorf("the runner had %d clients, where %d were due", newest.Clients, r.Clients)
	}
	r.TPS, r.Transactions, r.SamplingRate = newest.Result.TPS, newest.Result.Transactions, newest.SamplingRate
	return nil
}

// other side than the runner: pgbench by hand, after the same vacuum as the runner's.
// pgbench's own would empty a table that the runner looks at in the end.
func (b bench) other(ctx context.Context, r *Run) error {
	if err := b.sql(ctx, database, "VACUUM pgbench_branches", "VACUUM pgbench_tellers"); err != nil {
		return err
	}
	o := pgbench.RunOptions{
		Scripts: []pgbench.WeightedScript{{Builtin: scripts[r.Script]}}, Clients: r.Clients, Jobs: min(r.Clients, runtime.NumCPU()),
		Duration: b.seconds, Protocol: pgbench.Simple, NoVacuum: true,
	}
	for part, ask := range observing {
		if r.Side == part || r.Side == Bare {
			ask(&o)
		}
	}
	o.FailuresDetailed = r.Side == Bare
	if o.LogPrefix == "" {
		r.SamplingRate = 0
	}
	o.SamplingRate = r.SamplingRate
	args, err := o.Args()
	if err != nil {
		return err
	}
	out, err := b.pgbench(ctx, args)
	if err != nil {
		return err
	}
	result, err := pgbench.Parse(strings.NewReader(out))
	if err != nil {
		return err
	}
	r.TPS, r.Transactions = result.TPS, result.Transactions
	return b.sweep()
}

// pgbench with what the runner's environment is to it.
func (b bench) pgbench(ctx context.Context, args []string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(b.server.Bin, "pgbench"), args...)
	cmd.Dir, cmd.Env = b.dir, append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return "", fmt.Errorf("pgbench %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}

// sweep away the logs of a part.
func (b bench) sweep() error {
	logs, err := filepath.Glob(filepath.Join(b.dir, "transactions.*"))
	for _, path := range logs {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}
