//go:build linux

package runner

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/test/bench/harness"
)

var place = harness.Place("bench-runner")

// outcome of the runs.
func outcome(o options, m *measured) harness.Outcome {
	f := summarise(m.runs)
	return harness.Outcome{
		Report: report(o, m, f), Page: "runner.md", Place: place,
		Results: harness.Results("runner", f.results()), Judge: f.judge,
		Files: func(folder string) error { return harness.SaveRuns(folder, "runner.jsonl", m.runs) },
	}
}

// report of a run, in Markdown.
func report(o options, m *measured, f figures) string {
	var b strings.Builder
	others := "half as many of plain pgbench"
	if o.parts {
		others = "as many of every other side"
	}
	_, _ = fmt.Fprintf(&b, "One run of %s: %d pairs of runs of %s for each line, and %s, after %s of load on tables that were filled again for every %d. "+
		"%s, processors that server, pgbench and runner share: %d; scale %d, %s. Other programs took %.0f%% of the processors before it began.\n",
		m.took.Round(time.Minute), o.pairs, o.seconds, others, o.warmUp, pairsOfBlock, strings.TrimSpace(m.version), runtime.NumCPU(), o.scale, strings.Join(settings, ", "), m.elsewhere*100)
	b.WriteString("\n**What the runner costs: against bare pgbench, which observes the same**\n\n")
	f.print(&b, Bare)
	b.WriteString("\n")
	for _, l := range f.lines {
		if l.judged() {
			_, _ = fmt.Fprintf(&b, "- %s: %s; its log had %.0f%% of the transactions.\n", l.key, l.sentence(), 100*f.sampled(l.key))
		}
	}
	b.WriteString("\n**What observing costs: against plain pgbench, which reports only a rate**\n\n")
	f.print(&b, Plain)
	return b.String()
}

// sampled by the runner's log.
func (f figures) sampled(k key) float64 {
	at := slices.IndexFunc(f.sides, func(s side) bool { return s.key == k && s.name == Runner })
	return f.sides[at].sampled.Mean
}

// sentence of a verdict.
func (l line) sentence() string {
	switch l.verdict() {
	case pass:
		return fmt.Sprintf("the runner costs at most %.0f%%", 100*mostCost)
	case miss:
		return fmt.Sprintf("the runner costs more than %.0f%%", 100*mostCost)
	}
	return fmt.Sprintf("it is unclear whether the runner costs more than %.0f%%; with this spread about %d pairs would show it", 100*mostCost, l.wanted())
}
