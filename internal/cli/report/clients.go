package report

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/report"
	"github.com/pgstorage/pgstorage/internal/operator/decide/benchmarks"
)

// clientsAxis is the axis of a benchmark without a matrix.
const clientsAxis = "clients"

// single adds the runs of a benchmark without a matrix, with a variant for each client
// count.
func (g *assembly) single(in *report.Input) error {
	axis := matrix.Axis{Name: clientsAxis}
	for _, n := range g.b.Spec.Pgbench.Clients {
		value := strconv.Itoa(int(n))
		axis.Values = append(axis.Values, value)
		in.Variants = append(in.Variants, matrix.Variant{Name: byClients(int(n)), Values: map[string]string{clientsAxis: value}})
	}
	in.Axes = []matrix.Axis{axis}
	if err := g.singleRuns(); err != nil {
		return err
	}
	if benchmarks.Ended(g.b) && g.b.Status.Phase != v1alpha1.PhaseSucceeded {
		g.failed()
	}
	in.Progress = g.progress()
	return nil
}

func byClients(n int) string { return fmt.Sprintf("%s=%d", clientsAxis, n) }

func (g *assembly) singleRuns() error {
	run := g.b.Status.Run
	if run == nil {
		return nil
	}
	r, why := g.recordOf(g.b)
	if why == "" {
		for _, done := range r.Runs {
			analysed, err := done.Trial(byClients(done.Clients), done.Repeat)
			if err != nil {
				return err
			}
			g.runs = append(g.runs, analysed)
		}
		if len(r.Runs) > 0 {
			g.addLayers(byClients(r.Runs[0].Clients), r.Layers)
		}
		return nil
	}
	for _, result := range run.Results {
		if err := g.addResult(result, why); err != nil {
			return err
		}
	}
	return nil
}

// addResult adds the repeats of a result without a record. A result has the rate of each
// repeat, but latencies only if there is one repeat.
func (g *assembly) addResult(result v1alpha1.BenchmarkResult, why string) error {
	rates := result.TPSOfRuns
	if len(rates) == 0 {
		rates = []string{result.TPS}
	}
	for i, rate := range rates {
		average, p99 := "", ""
		if len(rates) == 1 {
			average, p99 = result.LatencyAverage, result.LatencyP99
		}
		run, err := runFromStatus(rate, average, p99)
		if err != nil {
			return fmt.Errorf("status.run.results of %d clients: %w", result.Clients, err)
		}
		run.Variant, run.Repeat, run.Tier = byClients(int(result.Clients)), i+1, g.b.Status.Durability
		run.Result.Clients, run.Known = int(result.Clients), findingsOf(result)
		if n := int(result.Rejected); n > 0 && n < len(rates) {
			run.Known = append(run.Known, rejectedUnknown(n, len(rates)))
		}
		g.addFromStatus(run, why)
	}
	return nil
}

// runFromStatus returns a run with the figures of a status; an empty figure is unknown.
func runFromStatus(tps, average, p99 string) (analysis.Trial, error) {
	run := analysis.Trial{Result: &pgbench.Result{}}
	for _, f := range []struct {
		text string
		into *float64
	}{{tps, &run.Result.TPS}, {average, &run.Result.LatencyAvg}, {p99, &run.LatencyP99}} {
		if f.text == "" {
			continue
		}
		var err error
		if *f.into, err = strconv.ParseFloat(f.text, 64); err != nil {
			return run, err
		}
	}
	return run, nil
}

// failed handles the runs before the failure of a benchmark. They do not count if a check
// found damage; otherwise a note says that no check followed them.
func (g *assembly) failed() {
	reason, message := failure(g.b)
	if reason != v1alpha1.ReasonIntegrityFailed {
		g.note("The benchmark failed: %s: %s. The integrity of the database was not checked after the runs below.", reason, message)
		return
	}
	for i := range g.runs {
		g.runs[i].Failure = reason + ": " + message
	}
}

// failure returns the reason and message of the condition Complete.
func failure(b *v1alpha1.PgBenchmark) (reason, message string) {
	if c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionComplete); c != nil {
		return c.Reason, c.Message
	}
	return v1alpha1.ReasonFailed, "the benchmark ended without a condition"
}

// progress counts the runs of a benchmark without a matrix.
func (g *assembly) progress() *matrix.Progress {
	work := g.b.Spec.Pgbench
	p := &matrix.Progress{Stop: stop(g.b)}
	for _, r := range g.runs {
		if r.Failure != "" {
			p.Failed++
		} else {
			p.Succeeded++
		}
	}
	p.Pending = max(0, len(work.Clients)*int(max(1, work.Repeats))-len(g.runs))
	return p
}

// stop returns why no further run starts; empty while runs remain.
func stop(b *v1alpha1.PgBenchmark) matrix.Stop {
	if !benchmarks.Ended(b) {
		return ""
	}
	reason, _ := failure(b)
	if reason == v1alpha1.ReasonSucceeded {
		return matrix.Complete
	}
	return matrix.Stop(reason)
}
