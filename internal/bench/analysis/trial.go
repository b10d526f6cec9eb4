package analysis

import (
	"fmt"
	"slices"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/disturbance"
	"github.com/pgstorage/pgstorage/internal/bench/fingerprint"
	"github.com/pgstorage/pgstorage/internal/bench/histogram"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// Trial is one recorded run of pgbench, the input of an Analysis.
type Trial struct {
	Variant string
	// Repeat from 1.
	Repeat int
	// Tier that was verified before and after the run.
	Tier v1alpha1.DurabilityTier
	// Failure is the reason that there is no Result.
	Failure string
	Result  *pgbench.Result
	// Seconds are the lines of pgbench --progress=1, oldest first.
	Seconds []pgbench.Progress
	// Latencies of the transactions, or a sample of them; nil without a log.
	Latencies *histogram.Histogram
	// LatencyP99 in milliseconds, used without Latencies.
	LatencyP99 float64
	// Facts that were observed. Examine adds those of Result and Seconds.
	Facts validity.Facts
	// Settings that were read back.
	Settings fingerprint.Settings
	// Events that an observer saw during the run, in so many Looks.
	Events []disturbance.Event
	Looks  int
	// Known findings complement those of the checks and replace those of checks that
	// did not run because facts are missing.
	Known []validity.Finding
}

// Repeat is one Trial with its figures and findings.
type Repeat struct {
	Repeat int `json:"repeat"`
	// Counted is true if the run succeeded and no check rejects it.
	Counted bool   `json:"counted"`
	Failure string `json:"failure,omitempty"`
	// TPS, and latencies in milliseconds; zero if the run failed or they are unknown.
	TPS            float64 `json:"tps"`
	LatencyAverage float64 `json:"latencyAverage"`
	LatencyP99     float64 `json:"latencyP99,omitempty"`
	// Rate is the TPS of each second, and Levels its segments.
	Rate     []float64               `json:"rate,omitempty"`
	Levels   statistics.Segmentation `json:"levels"`
	Findings []validity.Finding      `json:"findings,omitempty"`
}

// Examine one trial. It fails if the trial has neither a result nor a failure.
func Examine(r Trial) (Repeat, error) {
	repeat := Repeat{Repeat: r.Repeat, Failure: r.Failure}
	if r.Result == nil {
		if r.Failure == "" {
			return Repeat{}, fmt.Errorf("repeat %d of variant %q has neither a result nor a failure", r.Repeat, r.Variant)
		}
		return repeat, nil
	}
	repeat.TPS, repeat.LatencyAverage, repeat.LatencyP99 = r.Result.TPS, r.Result.LatencyAvg, r.LatencyP99
	if r.Latencies != nil {
		repeat.LatencyP99 = r.Latencies.Percentile(99)
	}
	for _, s := range r.Seconds {
		repeat.Rate = append(repeat.Rate, s.TPS)
	}
	repeat.Levels = statistics.Segment(repeat.Rate)
	repeat.Findings = known(validity.Check(r.facts(repeat.Levels)), r.Known)
	repeat.Counted = r.Failure == "" && validity.Worst(repeat.Findings) != validity.Rejected
	return repeat, nil
}

// known merges other findings into those of the checks.
func known(checked, others []validity.Finding) []validity.Finding {
	for _, f := range others {
		at := slices.IndexFunc(checked, func(c validity.Finding) bool { return c.Check == f.Check && c.Verdict == validity.NotRun })
		if at < 0 {
			checked = append(checked, f)
			continue
		}
		checked[at] = f
	}
	return checked
}

// facts of the trial, completed by the output of pgbench.
func (r Trial) facts(levels statistics.Segmentation) validity.Facts {
	f := r.Facts
	if f.Duration == 0 {
		f.Duration = r.Result.Duration
	}
	w := &f.Workload
	w.Clients, w.Tier = r.Result.Clients, r.Tier
	w.LatencyAverage = time.Duration(r.Result.LatencyAvg * float64(time.Millisecond))
	w.Transactions, w.Failed = r.Result.Transactions, r.Result.Failed
	w.Changes = nil
	for _, c := range levels.Changes {
		// pgbench prints a line at the end of its second.
		w.Changes = append(w.Changes, validity.LevelChange{At: r.Seconds[c.At-1].At, Before: c.Before, After: c.After})
	}
	return f
}
