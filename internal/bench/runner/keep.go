package runner

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/record"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
)

// judge the run by all that was observed beside it.
func (run *MeasuredRun) judge() error {
	repeat, err := analysis.Examine(analysis.Trial{
		Repeat: run.Repeat, Tier: run.facts.Workload.Tier, Result: run.Result, Seconds: run.seconds, Facts: run.facts,
	})
	if err != nil {
		return err
	}
	run.Findings, run.Rejected = repeat.Findings, validity.Worst(repeat.Findings) == validity.Rejected
	return nil
}

// mostOfFailure of a run that is kept, in bytes.
const mostOfFailure = 1000

// remember adds a run to the record, as it ended, and stores the record. A runner that is
// stopped in the next run has lost nothing of this one.
func (r *execution) remember(ctx context.Context, done MeasuredRun, failed error) {
	kept := record.Run{
		Clients: int(done.Clients), Repeat: done.Repeat, Durability: r.tier, Start: done.start,
		Result: done.Result, Seconds: done.seconds, Latencies: done.latencies, SamplingRate: done.SamplingRate,
		Facts: done.facts, Settings: done.settings, Events: done.events, Looks: done.looks,
	}
	if failed != nil {
		// A figure whose tier was not proved on both sides is none.
		kept.Failure, kept.Result = excerpt.Truncate(failed.Error(), mostOfFailure), nil
	}
	r.record.Runs = append(r.record.Runs, kept)
	r.keep(ctx)
}

// keep the record. A failure to do so does not fail the benchmark; the status reports it.
func (r *execution) keep(ctx context.Context) {
	if r.Keeper == nil {
		return
	}
	data, err := record.Encode(r.record)
	name := ""
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, reportTimeout)
		name, err = r.Keeper.Keep(ctx, data)
		cancel()
	}
	if r.lost = err; err != nil {
		r.Log.Warn("the record was not kept", "error", err)
		return
	}
	r.report.Record = name
}

// keepAtLast tries again where the newest record was not kept, unless the runner must stop.
func (r *execution) keepAtLast(ctx context.Context) {
	backoff := wait.Backoff{Duration: time.Second, Factor: 3, Steps: 4}
	for r.lost != nil && backoff.Steps > 0 && ctx.Err() == nil {
		select {
		case <-r.Clock.After(backoff.Step()):
			r.keep(ctx)
		case <-ctx.Done():
		}
	}
}
