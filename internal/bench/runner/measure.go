package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/program"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
)

const (
	// overtime is what a run may take beyond its duration until it is stopped:
	// commits that wait for a lost standby wait indefinitely.
	overtime = 2 * time.Minute
	// countedLimit bounds a run by number of transactions.
	countedLimit = 24 * time.Hour
	// logLines is about how many transactions of a run are logged at most, for
	// percentiles: 40 bytes each, on the disk of the node.
	logLines = 2e6
	// logRate is about how many are logged in a second at most, once a rate was seen. At 18,000
	// in a second a log of all took 2% of the rate, where processors limit it (make
	// bench-runner).
	logRate = 2500
	// unseenRate is the rate that is assumed before any was seen.
	unseenRate = 20000
	// detailedSince is the first version that knows --failures-detailed and
	// --max-tries.
	detailedSince = 15
)

// initialise fills the tables.
func (r *execution) initialise(ctx context.Context) error {
	args, err := pgbench.InitOptions{Scale: int(r.Spec.Pgbench.Scale), ForeignKeys: r.Spec.ForeignKeys}.Args()
	if err != nil {
		return err
	}
	_, err = program.Command{
		Path: program.In(r.Bin, "pgbench"), Args: args, Env: r.loading(), Dir: r.WorkDir, Timeout: 2 * r.tableTimeout(),
		Line: func(line string) {
			if p, ok := pgbench.ParseInitProgress(line); ok {
				r.progress(PhaseInitialising, initFraction(p), p.Step)
			}
		},
	}.Run(ctx)
	if err != nil {
		return fmt.Errorf("fill the tables: %w", err)
	}
	return r.awaitReplay(ctx, PhaseInitialising, 1)
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

// warmUp runs the first client count; only its rate is used. A short one may end before
// its clients have connected: it fails only if transactions did.
func (r *execution) warmUp(ctx context.Context) error {
	if r.Spec.WarmUp() == 0 {
		return nil
	}
	o, err := r.options(int(r.Spec.Pgbench.Clients[0]))
	if err != nil {
		return err
	}
	o.Duration, o.Transactions, o.LogPrefix = r.Spec.WarmUp(), 0, ""
	m, err := r.pgbench(ctx, o, PhaseWarmingUp, "warm-up")
	if err != nil {
		return fmt.Errorf("warm-up: %w", err)
	}
	if m.result.Transactions == 0 && m.result.Failed > 0 {
		return fmt.Errorf("warm-up: %w", m.noneSucceeded())
	}
	r.rate, r.rateClients = m.result.TPS, o.Clients
	return nil
}

// measure repeats the whole list of client counts, so that a drift of the machine
// meets all counts alike.
func (r *execution) measure(ctx context.Context) error {
	for repeat := range int(r.Spec.Pgbench.Repeats) {
		for _, clients := range r.Spec.Pgbench.Clients {
			done := MeasuredRun{Repeat: repeat + 1, Clients: clients}
			err := r.once(ctx, &done)
			if err == nil {
				err = done.judge()
			}
			r.remember(ctx, done, err)
			if err != nil {
				return fmt.Errorf("run %d of %d with %d clients: %w", len(r.runs)+1, r.budget.runs, clients, err)
			}
			r.runs = append(r.runs, done)
			r.report.Results = summarise(r.Spec.Pgbench.Clients, r.runs)
			r.Log.Info("run", "repeat", done.Repeat, "clients", done.Clients, "tps", done.Result.TPS, "p99", done.Log.P99, "failed", done.Result.Failed, "rejected", done.Rejected)
		}
	}
	return nil
}

// once executes one run. It verifies durability and observes the machine before and after
// the run, and looks at it every few seconds during it.
func (r *execution) once(ctx context.Context, done *MeasuredRun) (err error) {
	r.progress(PhaseRunning, 0, fmt.Sprintf("run %d of %d: %d clients", len(r.runs)+1, r.budget.runs, done.Clients))
	if done.Before, err = r.durability(ctx); err != nil {
		return err
	}
	// A follower has no rows that changed, and cannot vacuum.
	if r.source == nil {
		if err := r.db.vacuum(ctx, r.tableTimeout()); err != nil {
			return err
		}
	}
	if err := r.chill(ctx); err != nil {
		return err
	}
	o, err := r.options(int(done.Clients))
	if err != nil {
		return err
	}
	done.SamplingRate = o.SamplingRate
	defer func() { err = errors.Join(err, removeLogs(o.LogPrefix)) }()
	if err := r.watched(ctx, o, done); err != nil {
		return err
	}
	r.rate, r.rateClients = done.Result.TPS, o.Clients
	if done.After, err = r.durability(ctx); err != nil {
		return err
	}
	return done.readLog(o)
}

// watched runs pgbench between two observations of what may disturb it.
func (r *execution) watched(ctx context.Context, o pgbench.RunOptions, done *MeasuredRun) error {
	before := r.lookBefore(ctx)
	stop := r.watch(ctx, watchEvery(o.Duration))
	m, err := r.pgbench(ctx, o, PhaseRunning, fmt.Sprintf("run %d of %d", len(r.runs)+1, r.budget.runs))
	moments := stop()
	if err != nil {
		return err
	}
	if err := m.noneSucceeded(); err != nil {
		return err
	}
	after := r.lookAfter(ctx)
	moments = append(moments, r.lastMoment(ctx, before, after))
	done.events, done.looks = seen(moments), len(moments)
	done.Result, done.seconds, done.start = m.result, m.seconds, before.at
	done.facts, done.settings = r.facts(before, after, m, o), r.settings(after, m.result)
	return nil
}

// readLog of the transactions.
func (run *MeasuredRun) readLog(o pgbench.RunOptions) error {
	log := pgbench.NewLog(pgbench.LogFormat{Lag: o.Rate > 0, Retries: o.MaxTries > 1})
	if err := log.ReadFiles(o.LogPrefix); err != nil {
		return err
	}
	run.Log = log.Summary()
	latencies, err := log.Latencies().MarshalText()
	run.latencies = string(latencies)
	return err
}

// measured has the output of pgbench and its CPU time.
type measured struct {
	result  *pgbench.Result
	seconds []pgbench.Progress
	cpu     time.Duration
}

// pgbench runs it once and reads its report.
func (r *execution) pgbench(ctx context.Context, o pgbench.RunOptions, phase, name string) (measured, error) {
	args, err := o.Args()
	if err != nil {
		return measured{}, err
	}
	var m measured
	done := newMeter(o)
	out, err := program.Command{
		Path: program.In(r.Bin, "pgbench"), Args: args, Env: program.Environment(), Dir: r.WorkDir, Timeout: limit(o),
		Line: func(line string) {
			if p, ok := pgbench.ParseProgress(line); ok {
				m.seconds = append(m.seconds, p)
				r.progress(phase, done.at(p), fmt.Sprintf("%s: %d clients, %.1f TPS", name, o.Clients, p.TPS))
			}
		},
		Ended: func(s *os.ProcessState) { m.cpu = s.UserTime() + s.SystemTime() },
	}.Run(ctx)
	if err != nil {
		return measured{}, err
	}
	if m.result, err = pgbench.Parse(strings.NewReader(out)); err != nil {
		return measured{}, err
	}
	for _, line := range m.result.Unknown {
		r.Log.Warn("pgbench printed a line that is not known here", "line", line)
	}
	return m, nil
}

// noneSucceeded reports a run without a transaction, of which nothing can be counted.
func (m measured) noneSucceeded() error {
	if m.result.Transactions == 0 {
		return fmt.Errorf("no transaction succeeded, %d failed", m.result.Failed)
	}
	return nil
}

func limit(o pgbench.RunOptions) time.Duration {
	if o.Duration > 0 {
		return o.Duration + overtime
	}
	return countedLimit
}

// options of a measured run.
func (r *execution) options(clients int) (pgbench.RunOptions, error) {
	protocol, err := spec.Protocol(r.Spec.Pgbench.Protocol)
	if err != nil {
		return pgbench.RunOptions{}, err
	}
	o := pgbench.RunOptions{
		Scripts:      r.scripts,
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

// sampling bounds the log of a run, and what it costs, by the rate that was seen last. It keeps
// more where this run has more clients. Before the first rate it bounds only the size: a
// smaller share would leave too little of a slow run.
func (r *execution) sampling(o pgbench.RunOptions) float64 {
	rate, sample := float64(unseenRate), 1.0
	if r.rate > 0 {
		rate = r.rate * max(1, float64(o.Clients)/float64(r.rateClients))
		sample = logRate / rate
	}
	expected := float64(o.Transactions) * float64(o.Clients)
	if o.Duration > 0 {
		expected = rate * o.Duration.Seconds()
	}
	return min(1, sample, logLines/max(1, expected))
}

func removeLogs(prefix string) error {
	paths, err := filepath.Glob(prefix + ".*")
	for _, path := range paths {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}
