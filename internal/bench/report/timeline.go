package report

import (
	"fmt"
	"strconv"

	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/disturbance"
	"github.com/pgstorage/pgstorage/internal/bench/report/chart"
	"github.com/pgstorage/pgstorage/internal/bench/report/document"
)

// events of a run: what an observer saw, and what the rate shows.
func events(run analysis.Trial, repeat analysis.Repeat) []disturbance.Event {
	return disturbance.Ordered(append(disturbance.OfRate(run.Seconds, repeat.Levels), run.Events...))
}

// event of a repeat with its tag, which is unique in the variant.
type event struct {
	disturbance.Event
	tag    string
	repeat int
}

// events of the variant's repeats.
func (v Variant) events() []event {
	var out []event
	for _, r := range v.Repeats {
		for _, e := range r.Events {
			out = append(out, event{e, tag(len(out)), r.Number})
		}
	}
	return out
}

// tag of an event by its place: A to Z, then AA.
func tag(n int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if n < len(letters) {
		return letters[n : n+1]
	}
	return tag(n/len(letters)-1) + tag(n%len(letters))
}

// charted events of a repeat.
func charted(all []event, repeat int) []chart.Event {
	var out []chart.Event
	for _, e := range all {
		if e.repeat == repeat {
			out = append(out, chart.Event{From: e.From.Seconds(), To: e.To.Seconds(), Tag: e.tag, Name: string(e.Kind)})
		}
	}
	return out
}

// eventTable of a variant, nil without events.
func (v Variant) eventTable() *document.Table {
	t := &document.Table{Caption: "Disturbances of " + v.Name, Head: []string{"event", "repeat", "from (s)", "to (s)", "what happened"}, Numeric: []int{1, 2, 3}}
	for _, e := range v.events() {
		to := none
		if e.To > e.From {
			to = number(e.To.Seconds())
		}
		t.Rows = append(t.Rows, []string{join(e.tag, string(e.Kind)), strconv.Itoa(e.repeat), number(e.From.Seconds()), to, e.Message})
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

// fewEvents are shown; more are folded below the charts.
const fewEvents = 6

func (v Variant) eventOutline() document.Block {
	t := v.eventTable()
	if t == nil || len(t.Rows) <= fewEvents {
		return document.Block{Table: t}
	}
	return document.Block{Inner: []document.Block{{Summary: fmt.Sprintf("%d disturbances of %s", len(t.Rows), v.Name), Inner: []document.Block{{Table: t}}}}}
}

// observation says how the disturbances of a variant were looked for.
func (v Variant) observation() string {
	watched, runs := 0, 0
	for _, r := range v.Repeats {
		if len(r.Seconds) == 0 {
			continue
		}
		runs++
		if r.Looks > 0 {
			watched++
		}
	}
	switch {
	case runs == 0:
		return ""
	case watched == 0:
		return "No observer looked at the server during these runs, so only what the rate itself shows is marked: stalls and changes of level."
	case watched < runs:
		return fmt.Sprintf("An observer looked at the server during %d of %d runs; for the others only stalls and changes of level are marked.", watched, runs)
	case len(v.events()) == 0:
		return "An observer looked at the server every few seconds during these runs, and saw no disturbance at those times."
	}
	return "An observer looked at the server every few seconds, so the times of what it saw are no more exact."
}
