//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	//nolint:depguard // what a measurement writes down

	"github.com/pgstorage/pgstorage/test/bench/harness"
)

var place = harness.Place("bench-s3nbd")

// report of a run, in Markdown.
func report(o options, m *measured, f figures) string {
	var b strings.Builder
	rounds, turns := m.repeated()
	_, _ = fmt.Fprintf(&b, "One run of %s. Each request to the store takes %s more than by itself. "+
		"On the host: %d turns of %d s for each commit_delay; its kernel measured a flush of %s under %d clients without one, from which the derived one follows. "+
		"In the machine: %d rounds of %d s for each line. "+
		"%s, 2 virtual processors, %d MiB; %s. %d devices; ARC at most %s. pgbench %s, scale %d, a database of %d MB, shared_buffers %s. "+
		"The agent measured a flush of %s under the same load there, from which commit_delay=%d and commit_siblings=%d are derived. "+
		"The guest's kernel counted %d flushes in all, the relay %d. Other programs took %.0f%% of the host's processors meanwhile.\n\n",
		m.took.Round(time.Minute), o.latency, turns, o.turnSeconds, m.facts.HostFlush.Round(time.Millisecond), delayed, rounds, o.seconds,
		harness.Accelerator(m.accelerator), o.memory, m.facts.Versions, exportCount, o.arc, o.script, o.scale, m.facts.DatabaseBytes/1e6, m.facts.SharedBuffers,
		m.facts.Flush.Round(time.Millisecond), m.facts.Derived, m.facts.Siblings, m.facts.KernelFlushes, m.facts.RelayFlushes, m.elsewhere*100)
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

// write the report into the document, the plots and every run beside it.
func write(folder, text string, m *measured, f figures) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	cells, err := harness.Lines(m.cells)
	if err != nil {
		return err
	}
	reads, err := harness.Lines(m.reads)
	if err != nil {
		return err
	}
	return errors.Join(
		place.Write(filepath.Join(folder, "s3nbd.md"), text),
		os.WriteFile(filepath.Join(folder, "s3nbd.jsonl"), slices.Concat(cells, reads), 0o644),
		f.plots(folder),
	)
}
