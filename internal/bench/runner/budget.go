package runner

import (
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
)

// budget shares out 100 percent over the phases by the time they should take.
type budget struct {
	layers, initialise, warmUp, run, integrity float64
	runs                                       int
}

// Seconds of the phases without a stated time. These are filling a unit of scale on slow
// storage, checking it, and a run by number of transactions.
const (
	fillSeconds  = 0.5
	checkSeconds = 0.2
	countedRun   = 60
)

func newBudget(s spec.Spec) budget {
	b := budget{
		initialise: 2 + fillSeconds*float64(s.Pgbench.Scale),
		warmUp:     s.WarmUp().Seconds(),
		run:        s.Duration().Seconds(),
		integrity:  1 + checkSeconds*float64(s.Pgbench.Scale),
		runs:       len(s.Pgbench.Clients) * int(s.Pgbench.Repeats),
	}
	if s.Transactions() > 0 {
		b.run = countedRun
	}
	if s.Layers != nil {
		b.layers = s.Layers.Time().Seconds()
	}
	return b
}

// percent of the whole at a fraction of a phase, after some runs.
func (b budget) percent(phase string, runs int, fraction float64) int32 {
	fraction = min(1, max(0, fraction))
	var done float64
	before := b.layers + b.initialise
	switch phase {
	case PhaseMeasuringLayers:
		done = fraction * b.layers
	case PhaseInitialising:
		done = b.layers + fraction*b.initialise
	case PhaseWarmingUp:
		done = before + fraction*b.warmUp
	case PhaseRunning:
		done = before + b.warmUp + (float64(runs)+fraction)*b.run
	case PhaseCheckingIntegrity:
		done = before + b.warmUp + float64(b.runs)*b.run + fraction*b.integrity
	default:
		return 100
	}
	return int32(100 * done / (before + b.warmUp + float64(b.runs)*b.run + b.integrity))
}

// meter turns progress lines into the fraction of a run that is done.
type meter struct {
	duration     time.Duration
	transactions float64

	last time.Duration
	done float64
}

func newMeter(o pgbench.RunOptions) *meter {
	return &meter{duration: o.Duration, transactions: float64(o.Transactions) * float64(o.Clients)}
}

func (m *meter) at(p pgbench.Progress) float64 {
	if m.duration > 0 {
		return p.At.Seconds() / m.duration.Seconds()
	}
	m.done += p.TPS * (p.At - m.last).Seconds()
	m.last = p.At
	if m.transactions == 0 {
		return 0
	}
	return m.done / m.transactions
}
