package disturbance

import (
	"cmp"
	"slices"
	"time"
)

// Kind of an Event, as charts label it.
type Kind string

// The kinds. Stall and Level come from the rate, the others from an observer.
const (
	Checkpoint Kind = "checkpoint"
	CPUQuota   Kind = "CPU quota"
	CPUSteal   Kind = "CPU steal"
	Vacuum     Kind = "vacuum"
	Backup     Kind = "backup"
	Stall      Kind = "stall"
	Level      Kind = "level"
)

// Event during a run. Its times are since the run began; From equals To where it has no
// duration. An observer looks every few seconds, so its times are no more exact than that.
type Event struct {
	Kind Kind          `json:"kind"`
	From time.Duration `json:"fromNanoseconds"`
	To   time.Duration `json:"toNanoseconds"`
	// Message says what happened, as a clause.
	Message string `json:"message,omitempty"`
}

// Most events of one run that are kept. A run with more is disturbed throughout.
const Most = 60

// Ordered returns the events by time. Of more than Most it keeps the longest.
func Ordered(events []Event) []Event {
	out := slices.Clone(events)
	if len(out) > Most {
		slices.SortStableFunc(out, func(a, b Event) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
		out = out[:Most]
	}
	slices.SortStableFunc(out, func(a, b Event) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Kind, b.Kind)) })
	return out
}
