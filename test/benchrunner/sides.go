//go:build linux

package main

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
	"github.com/pgstorage/pgstorage/internal/benchrun"
	"github.com/pgstorage/pgstorage/internal/benchrun/spec"
	"github.com/pgstorage/pgstorage/internal/pgbench"
	"github.com/pgstorage/pgstorage/internal/testing/postgres" //nolint:depguard // a measurement
)

// Sides that are compared.
const (
	// Bare is pgbench as a person calls it.
	Bare = "bare"
	// Runner is the runner of a PgBenchmark.
	Runner = "runner"
)

// parts of what the runner asks of pgbench: each is bare pgbench with one of them, or
// with all.
var parts = map[string]func(*pgbench.RunOptions){
	"log":        func(o *pgbench.RunOptions) { o.LogPrefix = "transactions" },
	"progress":   func(o *pgbench.RunOptions) { o.Progress = time.Second },
	"statements": func(o *pgbench.RunOptions) { o.Statements = true },
	"options":    func(o *pgbench.RunOptions) { o.LogPrefix, o.Progress, o.Statements = "transactions", time.Second, true },
}

// scripts that are compared, by the API's name.
var scripts = map[v1alpha1.Script]string{
	v1alpha1.ScriptSelectOnly:   pgbench.SelectOnly,
	v1alpha1.ScriptSimpleUpdate: pgbench.SimpleUpdate,
}

// tier of all runs: where no commit waits for a disk there are the most transactions,
// and the most that a cost of each of them can take.
const tier = v1alpha1.DurabilityAsync

// Run that was measured.
type Run struct {
	// Pair from 1, and Place in it from 1.
	Pair, Place  int
	Script       v1alpha1.Script
	Clients      int
	Side         string
	TPS          float64
	Transactions int64
	// SamplingRate of the runner's log: the part of the transactions that it had.
	SamplingRate float64 `json:",omitempty"`
}

// bench runs both sides on one database.
type bench struct {
	options
	server   *postgres.Server
	reporter benchrun.Reporter
	// dir takes the logs.
	dir string
}

// do a run from the same state: no page waits to be written, the tables are filled anew,
// and there was some load.
func (b bench) do(ctx context.Context, r *Run) error {
	if err := b.sql(ctx, "CHECKPOINT"); err != nil {
		return err
	}
	if r.Side == Runner {
		return b.withRunner(ctx, r)
	}
	return b.bare(ctx, r)
}

// withRunner is the runner's whole way, from filling the tables to its last report.
func (b bench) withRunner(ctx context.Context, r *Run) error {
	runner := &benchrun.Runner{
		Spec: spec.Spec{Cluster: "bench", Durability: tier, Pgbench: v1alpha1.PgbenchSpec{
			Scale: int32(b.scale), Clients: []int32{int32(r.Clients)}, Script: r.Script, Duration: b.seconds.String(), WarmUp: b.warmUp.String(),
			Repeats: 1, MaxTries: 1, Protocol: v1alpha1.ProtocolSimple, Integrity: v1alpha1.IntegrityBasic,
		}},
		Reporter: b.reporter, Attempt: "bench", Bin: b.server.Bin, WorkDir: b.dir, Processors: runtime.NumCPU(),
		Clock: clock.RealClock{}, Connecting: benchrun.Connecting,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	outcome, err := runner.Run(ctx)
	if err != nil {
		return err
	}
	if len(outcome.Runs) != 1 {
		return fmt.Errorf("the runner has made %d runs", len(outcome.Runs))
	}
	done := outcome.Runs[0]
	r.TPS, r.Transactions, r.SamplingRate = done.Result.TPS, done.Result.Transactions, done.SamplingRate
	return nil
}

// bare is the same by hand. pgbench vacuums its tables before a run, as the runner does.
func (b bench) bare(ctx context.Context, r *Run) error {
	fill, err := pgbench.InitOptions{Scale: b.scale}.Args()
	if err != nil {
		return err
	}
	o := pgbench.RunOptions{
		Scripts: []pgbench.WeightedScript{{Builtin: scripts[r.Script]}}, Clients: r.Clients, Jobs: min(r.Clients, runtime.NumCPU()),
		Duration: b.warmUp, Protocol: pgbench.Simple,
	}
	load, err := o.Args()
	if err != nil {
		return err
	}
	if part := parts[r.Side]; part != nil {
		part(&o)
	}
	o.Duration = b.seconds
	measured, err := o.Args()
	if err != nil {
		return err
	}
	var out string
	for _, args := range [][]string{fill, load, measured} {
		if out, err = b.pgbench(ctx, args); err != nil {
			return err
		}
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
