//go:build linux

package measure

import "slices"

// PlanFile is the name of the file that has the guest's plan.
const PlanFile = "plan.json"

// Plan of what a guest measures.
type Plan struct {
	// Serial of the disk, and Pool on it.
	Serial, Pool string
	// Script is a built-in one of pgbench.
	Script string
	Scale  int
	// Clients of each measured run.
	Clients []int
	Rounds  int
	// Seconds of each measured run, and WarmUp of the load before it.
	Seconds, WarmUp int
}

// Sample is what every measured run has, whatever else it measures.
type Sample struct {
	Round         int
	Configuration string
	Durable       bool
	Clients       int
	TPS           float64
	Transactions  int64
	// SettleSeconds is how long a checkpoint and a sync of the pool took to write what the
	// last transaction had left.
	SettleSeconds float64
	// Busy is the share of the guest's processors that worked, 0 to 1.
	Busy float64
}

// Common returns the sample of a run that embeds it.
func (s Sample) Common() Sample { return s }

// Sustained is the rate that includes the time to settle. A run is short, and pgbench's
// own rate leaves that time out.
func (s Sample) Sustained() float64 {
	return float64(s.Transactions) / max(1e-9, float64(s.Transactions)/max(1e-9, s.TPS)+s.SettleSeconds)
}

// PerTransaction divides a count of the run.
func (s Sample) PerTransaction(n int64) float64 {
	return float64(n) / float64(max(1, s.Transactions))
}

// Turns of a round: one sample to measure for every kind of commit, number of clients and
// configuration. Each round has another order, so that none is always first.
func Turns(round int, configurations []string, clients []int) (turns []Sample) {
	durable := []bool{true, false}
	if round%2 == 1 {
		slices.Reverse(durable)
	}
	for _, d := range durable {
		for _, n := range rotated(clients, round) {
			for _, name := range rotated(configurations, round) {
				turns = append(turns, Sample{Round: round, Configuration: name, Durable: d, Clients: n})
			}
		}
	}
	return turns
}

func rotated[T any](all []T, by int) []T {
	first := by % len(all)
	return slices.Concat(all[first:], all[:first])
}
