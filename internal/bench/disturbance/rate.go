package disturbance

import (
	"fmt"
	"slices"
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// stalled is the share of a run's median rate below which a second is a Stall.
const stalled = 0.1

// OfRate returns the stalls and changes of level of a run, from the lines of pgbench
// --progress=1 and their levels.
func OfRate(lines []pgbench.Progress, levels statistics.Segmentation) []Event {
	events := stalls(lines)
	for _, c := range levels.Changes {
		if c.At > 0 && c.At <= len(lines) {
			// pgbench prints a line at the end of its second.
			at := lines[c.At-1].At
			events = append(events, Event{Level, at, at, fmt.Sprintf("the rate changed its level from %.0f to %.0f TPS", c.Before, c.After)})
		}
	}
	return events
}

// stalls are neighbouring seconds that are far below the median rate.
func stalls(lines []pgbench.Progress) []Event {
	var rates []float64
	for _, l := range lines {
		rates = append(rates, l.TPS)
	}
	summary, err := statistics.Summarise(rates)
	if err != nil || summary.Median <= 0 {
		return nil
	}
	var events []Event
	var began time.Duration
	for i, l := range lines {
		slow := l.TPS < stalled*summary.Median
		if slow && (len(events) == 0 || events[len(events)-1].To != began) {
			events = append(events, Event{Kind: Stall, From: began})
		}
		if slow {
			events[len(events)-1].To = l.At
		}
		began = lines[i].At
	}
	for i := range events {
		e := &events[i]
		e.Message = fmt.Sprintf("the rate was below %.0f%% of its median for %v", 100*stalled, (e.To - e.From).Round(100*time.Millisecond))
	}
	return slices.Clip(events)
}
