package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/record"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
)

// How long the runner tries to publish the last status. When its pod is deleted, the
// kubelet grants 15 seconds, of which pgbench may take 5.
const (
	lastReportPatience = 10 * time.Minute
	lastReportHaste    = 8 * time.Second
)

// Runner executes one benchmark.
type Runner struct {
	Spec     spec.Spec
	Reporter Reporter
	// Keeper of the record; nil keeps none.
	Keeper Keeper
	// Files of the machine that the runner is on, from its root; nil to skip them.
	Files fs.FS
	// Attempt is the UID of the runner's pod.
	Attempt string
	// Bin is the folder of pgbench and pg_amcheck; empty is the PATH.
	Bin string
	// WorkDir takes the transaction logs.
	WorkDir string
	// Observer of the server; nil without a superuser. Without it pg_amcheck is
	// reported as not run.
	Observer Observer
	// Processors bounds the threads of pgbench.
	Processors int
	Clock      clock.Clock
	Log        *slog.Logger
	// Connecting limits the attempts to connect at the beginning.
	Connecting wait.Backoff
}

// Connecting tries for about a minute and a half.
var Connecting = wait.Backoff{Duration: time.Second, Factor: 1.5, Jitter: 0.1, Steps: 9}

// execution is the state of one benchmark while it runs.
type execution struct {
	*Runner
	db *database
	// source is the same database on the cluster that the measured one follows, where it is
	// filled; nil where the measured one follows none.
	source *database
	server Server
	// notPrepared says why pg_amcheck cannot run; empty where it can.
	notPrepared string
	// tier of the transactions, and the scripts that are run: see stageScripts.
	tier    v1alpha1.DurabilityTier
	scripts []pgbench.WeightedScript
	budget  budget
	report  RunStatus
	runs    []MeasuredRun
	publish func(RunStatus)
	// record of the runs, and why the newest one was not kept.
	record record.Record
	lost   error
	// flush of the device that holds the WAL, where it was measured.
	flush *validity.Flush
	// rate of transactions that was seen last, and of how many clients.
	rate        float64
	rateClients int
}

// Run the benchmark to its end and report it. The error is a *Failure, which the last
// status has too. When ctx ends, Run stops pgbench and the reason is Interrupted.
func (r *Runner) Run(ctx context.Context) (Transcript, error) {
	return r.reported(ctx, func(b *execution) error { return b.carryOut(ctx) })
}

// Refuse reports a benchmark that cannot start, and returns why.
func (r *Runner) Refuse(ctx context.Context, why error) error {
	_, err := r.reported(ctx, func(*execution) error { return why })
	return err
}

func (r *Runner) reported(ctx context.Context, work func(*execution) error) (Transcript, error) {
	// Reports outlive the run that they are about.
	reporting, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	p := startPublisher(reporting, r.Reporter, r.Clock, r.Log)

	b := &execution{Runner: r, budget: newBudget(r.Spec), publish: p.publish}
	b.report, b.record = RunStatus{Attempt: r.Attempt}, record.Record{Attempt: r.Attempt}
	err := work(b)
	if err != nil && ctx.Err() != nil {
		err = &Failure{Reason: ReasonInterrupted, Err: fmt.Errorf("the runner was stopped: %w", context.Cause(ctx))}
	}
	b.conclude(err)

	outcome := Transcript{Report: b.report, Runs: b.runs}
	lost := r.lastReport(ctx, reporting, p, b.report)
	if err != nil {
		return outcome, errors.Join(failure(err), lost)
	}
	return outcome, lost
}

// lastReport retries for long, because only the last status counts, unless the runner is
// being stopped.
func (r *Runner) lastReport(ctx, reporting context.Context, p *publisher, report RunStatus) error {
	last, cancel := context.WithTimeout(reporting, lastReportPatience)
	defer cancel()
	hurry := context.AfterFunc(ctx, func() {
		select {
		case <-r.Clock.After(lastReportHaste):
			cancel()
		case <-last.Done():
		}
	})
	defer hurry()
	return p.close(last, report)
}

func (r *execution) conclude(err error) {
	if err == nil {
		r.report.Phase, r.report.Percent = PhaseSucceeded, 100
		r.report.Message = fmt.Sprintf("%d runs", len(r.runs))
		if r.lost != nil {
			r.report.Message += excerpt.Truncate("; their record was not kept: "+r.lost.Error(), 500)
		}
		return
	}
	f := failure(err)
	r.report.Phase, r.report.Reason = PhaseFailed, f.Reason
	r.report.Message = excerpt.Truncate(f.Err.Error(), 1000)
	r.Log.Error("benchmark failed", "reason", f.Reason, "error", f.Err)
}

func (r *execution) carryOut(ctx context.Context) error {
	if err := r.stageScripts(); err != nil {
		return err
	}
	r.progress(r.firstPhase(), 0, "connecting")
	before, err := r.prepare(ctx)
	if err != nil {
		return err
	}
	if err := r.within(ctx, r.work); err != nil {
		return err
	}
	defer r.keepAtLast(ctx)
	return r.verify(ctx, before)
}

// work has all steps that fill the volumes of the database.
func (r *execution) work(ctx context.Context) error {
	for _, step := range []func(context.Context) error{r.measureLayers, r.initialise, r.warmUp, r.measure} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// prepare connects, and reads the server and its settings.
func (r *execution) prepare(ctx context.Context) (checksumFailures *int64, err error) {
	if err := r.connect(ctx); err != nil {
		return nil, err
	}
	if r.server, err = r.db.server(ctx); err != nil {
		return nil, err
	}
	r.report.ServerVersion, r.report.Fingerprint = r.server.Version, r.server.Fingerprint
	// A cluster that does not keep its tier is not worth filling.
	if _, err := r.durability(ctx); err != nil {
		return nil, err
	}
	return r.db.checksumFailures(ctx)
}

// connect waits until all servers let the runner in. A follower has replayed the roles then,
// and the observer's preparations.
func (r *execution) connect(ctx context.Context) (err error) {
	if r.db, err = openDatabase(); err != nil {
		return err
	}
	if r.source, err = r.openSource(); err != nil {
		return err
	}
	if err := r.loader().settle(ctx, r.Connecting); err != nil {
		return err
	}
	if err := r.awaitObserver(ctx); err != nil {
		return err
	}
	if r.source == nil {
		return nil
	}
	if err := r.db.settle(ctx, r.Connecting); err != nil {
		return err
	}
	return r.awaitReplay(ctx, r.firstPhase(), 0)
}

func (r *execution) durability(ctx context.Context) (Durability, error) {
	d, err := r.db.durability(ctx, r.Observer)
	if err != nil {
		return d, err
	}
	r.report.SynchronousCommit, r.report.SynchronousStandbyNames = d.SynchronousCommit, d.SynchronousStandbyNames
	return d, d.meets(r.Spec.Durability)
}

// verify checks integrity. Damaged data fails the benchmark; its results stay in the
// status.
func (r *execution) verify(ctx context.Context, before *int64) error {
	r.progress(PhaseCheckingIntegrity, 0, "checksums and invariants")
	checks, err := r.integrity(ctx, before)
	r.report.Integrity = checks
	if err != nil {
		return err
	}
	var broken []error
	for _, c := range checks {
		r.Log.Info("integrity", "check", c.Name, "result", c.Result, "message", c.Message)
		if c.Result == Failed {
			broken = append(broken, fmt.Errorf("%s: %s", c.Name, c.Message))
		}
	}
	if len(broken) > 0 {
		return &Failure{Reason: ReasonIntegrityFailed, Err: errors.Join(broken...)}
	}
	return nil
}

// progress publishes the phase of the benchmark.
func (r *execution) progress(phase string, fraction float64, message string) {
	if r.report.Phase != phase {
		r.Log.Info("phase", "phase", phase)
	}
	r.report.Phase, r.report.Message = phase, message
	r.report.Percent = r.budget.percent(phase, len(r.runs), fraction)
	r.publish(*r.report.DeepCopy())
}

// tableTimeout limits a command that reads or writes every page of the tables.
func (r *execution) tableTimeout() time.Duration {
	return 10*time.Minute + time.Duration(r.Spec.Pgbench.Scale)*20*time.Second
}
