package benchrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/internal/benchrun/spec"
	"github.com/pgstorage/pgstorage/internal/pgbench"
)

const (
	// overtime is what a run may take beyond its duration until it is stopped:
	// commits that wait for a standby which is gone wait for ever.
	overtime = 2 * time.Minute
	// countedLimit bounds a run by number of transactions.
	countedLimit = 24 * time.Hour
	// logLines is about how many transactions of a run are logged, for percentiles:
	// 40 bytes each, on the disk of the node.
	logLines = 2e6
	// unseenRate is the rate that is assumed before any was seen.
	unseenRate = 20000
	// detailedSince is the first version that knows --failures-detailed and
	// --max-tries.
	detailedSince = 15
)

// initialise fills the tables.
func (r *run) initialise(ctx context.Context) error {
	args, err := pgbench.InitOptions{Scale: int(r.Spec.Pgbench.Scale), ForeignKeys: r.Spec.ForeignKeys}.Args()
	if err != nil {
		return err
	}
	_, err = command{
		path: program(r.Bin, "pgbench"), args: args, env: environment(), dir: r.WorkDir, timeout: 2 * r.tableTimeout(),
		line: func(line string) {
			if p, ok := pgbench.ParseInitProgress(line); ok {
				r.progress(PhaseInitialising, initFraction(p), p.Step)
			}
		},
	}.run(ctx)
	if err != nil {
		return fmt.Errorf("fill the tables: %w", err)
	}
	return nil
}

// generating is the share of the tuples in the time of initialising; vacuum and
// keys are the rest.
const generating = 0.7

func initFraction(p pgbench.InitProgress) float64 {
	switch {
	case p.Done:
		return 1
	case p.Percent > 0:
		return generating * float64(p.Percent) / 100
	case strings.HasPrefix(p.Step, "vacuuming"), strings.HasSuffix(p.Step, "keys"):
		return generating
	}
	return 0
}

// warmUp runs the first client count; its figures only tell the rate.
func (r *run) warmUp(ctx context.Context) error {
	if r.Spec.WarmUp() == 0 {
		return nil
	}
	o, err := r.options(int(r.Spec.Pgbench.Clients[0]))
	if err != nil {
		return err
	}
	o.Duration, o.Transactions, o.LogPrefix = r.Spec.WarmUp(), 0, ""
	result, err := r.pgbench(ctx, o, PhaseWarmingUp, "warm-up")
	if err != nil {
		return fmt.Errorf("warm-up: %w", err)
	}
	r.rate, r.rateClients = result.TPS, o.Clients
	return nil
}

// measure repeats the whole list of client counts, so that a drift of the machine
// meets all counts alike.
func (r *run) measure(ctx context.Context) error {
	for repeat := range int(r.Spec.Pgbench.Repeats) {
		for _, clients := range r.Spec.Pgbench.Clients {
			done, err := r.once(ctx, clients)
			if err != nil {
				return fmt.Errorf("run %d of %d with %d clients: %w", len(r.runs)+1, r.budget.runs, clients, err)
			}
			done.Repeat = repeat + 1
			r.runs = append(r.runs, done)
			r.report.Results = summarise(r.Spec.Pgbench.Clients, r.runs)
			r.Log.Info("run", "repeat", done.Repeat, "clients", done.Clients, "tps", done.Result.TPS, "p99", done.Log.P99, "failed", done.Result.Failed)
		}
	}
	return nil
}

// once is one run, with the durability proved on both sides of it.
func (r *run) once(ctx context.Context, clients int32) (done Run, err error) {
	done.Clients = clients
	r.progress(PhaseRunning, 0, fmt.Sprintf("run %d of %d: %d clients", len(r.runs)+1, r.budget.runs, clients))
	if done.Before, err = r.durability(ctx); err != nil {
		return done, err
	}
	if err := r.db.vacuum(ctx, r.tableTimeout()); err != nil {
		return done, err
	}
	o, err := r.options(int(clients))
	if err != nil {
		return done, err
	}
	done.SamplingRate = o.SamplingRate
	defer func() { err = errors.Join(err, removeLogs(o.LogPrefix)) }()
	if done.Result, err = r.pgbench(ctx, o, PhaseRunning, fmt.Sprintf("run %d of %d", len(r.runs)+1, r.budget.runs)); err != nil {
		return done, err
	}
	r.rate, r.rateClients = done.Result.TPS, o.Clients
	if done.After, err = r.durability(ctx); err != nil {
		return done, err
	}
	log := pgbench.NewLog(pgbench.LogFormat{Lag: o.Rate > 0, Retries: o.MaxTries > 1})
	if err := log.ReadFiles(o.LogPrefix); err != nil {
		return done, err
	}
	done.Log = log.Summary()
	return done, nil
}

// pgbench runs it once and reads its report.
func (r *run) pgbench(ctx context.Context, o pgbench.RunOptions, phase, name string) (*pgbench.Result, error) {
	args, err := o.Args()
	if err != nil {
		return nil, err
	}
	m := newMeter(o)
	out, err := command{
		path: program(r.Bin, "pgbench"), args: args, env: environment(), dir: r.WorkDir, timeout: limit(o),
		line: func(line string) {
			if p, ok := pgbench.ParseProgress(line); ok {
				r.progress(phase, m.at(p), fmt.Sprintf("%s: %d clients, %.1f TPS", name, o.Clients, p.TPS))
			}
		},
	}.run(ctx)
	if err != nil {
		return nil, err
	}
	result, err := pgbench.Parse(strings.NewReader(out))
	if err != nil {
		return nil, err
	}
	for _, line := range result.Unknown {
		r.Log.Warn("pgbench printed a line that is not known here", "line", line)
	}
	if result.Transactions == 0 {
		return nil, fmt.Errorf("no transaction succeeded, %d failed", result.Failed)
	}
	return result, nil
}

func limit(o pgbench.RunOptions) time.Duration {
	if o.Duration > 0 {
		return o.Duration + overtime
	}
	return countedLimit
}

// options of a measured run.
func (r *run) options(clients int) (pgbench.RunOptions, error) {
	scripts, err := r.Spec.Scripts()
	if err != nil {
		return pgbench.RunOptions{}, err
	}
	protocol, err := spec.Protocol(r.Spec.Pgbench.Protocol)
	if err != nil {
		return pgbench.RunOptions{}, err
	}
	o := pgbench.RunOptions{
		Scripts:      scripts,
		Clients:      clients,
		Jobs:         r.Spec.Jobs(clients, r.Processors),
		Duration:     r.Spec.Duration(),
		Transactions: r.Spec.Transactions(),
		Protocol:     protocol,
		Progress:     time.Second,
		LogPrefix:    filepath.Join(r.WorkDir, "transactions"),
		Statements:   true,
		NoVacuum:     true,
	}
	if r.Spec.Pgbench.Rate != nil {
		o.Rate = float64(*r.Spec.Pgbench.Rate)
	}
	if r.server.Major >= detailedSince {
		o.FailuresDetailed, o.MaxTries = true, int(r.Spec.Pgbench.MaxTries)
	}
	o.SamplingRate = r.sampling(o)
	return o, nil
}

// sampling keeps the log of a run bounded, by the rate that was seen last, or
// more where this run has more clients.
func (r *run) sampling(o pgbench.RunOptions) float64 {
	expected := float64(o.Transactions) * float64(o.Clients)
	if o.Duration > 0 {
		rate := float64(unseenRate)
		if r.rate > 0 {
			rate = r.rate * max(1, float64(o.Clients)/float64(r.rateClients))
		}
		expected = rate * o.Duration.Seconds()
	}
	return min(1, logLines/max(1, expected))
}

func removeLogs(prefix string) error {
	paths, err := filepath.Glob(prefix + ".*")
	for _, path := range paths {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}
