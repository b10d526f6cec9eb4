//go:build linux

package s3nbd

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/test/bench/harness"
)

var place = harness.Place("bench-s3nbd")

// outcome of the cells and reads.
func outcome(o options, m *measured) harness.Outcome {
	f := summarise(m)
	return harness.Outcome{
		Report: report(o, m, f), Page: "s3nbd.md", Place: place,
		Results: harness.Results("s3nbd", f.results()), Judge: f.judge,
		Files: func(folder string) error { return errors.Join(m.saveRuns(folder), f.plots(folder)) },
	}
}

// saveRuns writes every run that was measured, those that only read last.
func (m *measured) saveRuns(folder string) error {
	var runs []any
	for _, c := range m.cells {
		runs = append(runs, c)
	}
	for _, r := range m.reads {
		runs = append(runs, r)
	}
	return harness.SaveRuns(folder, "s3nbd.jsonl", runs)
}

// report of a run, in Markdown.
func report(o options, m *measured, f figures) string {
	var b strings.Builder
	rounds, turns := m.repeated()
	_, _ = fmt.Fprintf(&b, "One run of %s. Each request to the store takes %s longer than without the proxy. "+
		"On the host: %d turns of %d s for each commit_delay; its kernel measured a flush of %s under %d clients without one, from which the derived one follows. "+
		"In the machine: %d rounds of %d s for each line. "+
		"%s, 2 virtual processors, %d MiB; %s. %d devices; ARC at most %s. pgbench %s, scale %d, a database of %d MB, shared_buffers %s. "+
		"The agent measured a flush of %s under the same load there, from which commit_delay=%d and commit_siblings=%d are derived. "+
		"The guest's kernel counted %d flushes in all, the relay %d. Other programs took %.0f%% of the host's processors meanwhile.\n\n",
		m.Took.Round(time.Minute), o.latency, turns, o.turnSeconds, m.facts.HostFlush.Round(time.Millisecond), delayed, rounds, o.seconds,
		m.Processor(), o.memory, m.facts.Versions, exportCount, o.arc, o.script, o.scale, m.facts.DatabaseBytes/1e6, m.facts.SharedBuffers,
		m.facts.Flush.Round(time.Millisecond), m.facts.Derived, m.facts.Siblings, m.facts.KernelFlushes, m.facts.RelayFlushes, m.Elsewhere*100)
	f.marks(&b)
	_, _ = fmt.Fprintf(&b, "\n**commit_delay on the host's processors, %d clients, durable**\n\n", delayed)
	f.printDelays(&b)
	b.WriteString("\n**Commits in the machine**\n\n")
	f.print(&b)
	if len(f.reads) > 0 {
		_, _ = fmt.Fprintf(&b, "\n**Reads, pgbench select-only with %d clients**\n\n", readers)
		f.printReads(&b)
	}
	harness.Settings(&b, m.facts.Datasets, map[string]map[string]string{"Parameters": m.parameters})
	return b.String()
}

// repeated is the number of rounds and turns that there were.
func (m *measured) repeated() (rounds, turns int) {
	for _, c := range m.cells {
		if c.Host {
			turns = max(turns, c.Round+1)
		} else {
			rounds = max(rounds, c.Round+1)
		}
	}
	return rounds, turns
}
