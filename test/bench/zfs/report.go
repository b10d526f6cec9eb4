//go:build linux

package zfs

import (
	"fmt"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/test/bench/harness"
	"github.com/pgstorage/pgstorage/test/bench/zfs/cell"
)

var place = harness.Place("bench-zfs")

// outcome of the rounds.
func outcome(o options, m *measured) harness.Outcome {
	f := summarise(m.cells)
	return harness.Outcome{
		Report: roundsReport(o, m, f), Page: "zfs.md", Place: place,
		Results: harness.Results("zfs", f.results()), Judge: f.judge, Files: f.plots,
	}
}

// roundsReport is the page of the rounds, in Markdown.
func roundsReport(o options, m *measured, f figures) string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "One run of %s: %d rounds of %d s for each line, after %d s of load. A flush takes %s, writes %s. "+
		"%s, 2 virtual processors, %d MiB; Linux %s, OpenZFS %s, %s; ARC at most %s. pgbench %s, scale %d, a database of %d MB. "+
		"Other programs took %.0f%% of the host's processors meanwhile.\n\n",
		m.Took.Round(time.Minute), o.Plan.Rounds, o.Plan.Seconds, o.Plan.WarmUp, o.Flush, o.limit(),
		m.Processor(), o.Memory, m.facts.Kernel, m.facts.ZFS, m.facts.Postgres, o.ARC, o.Plan.Script, o.Plan.Scale,
		m.facts.DatabaseBytes/1e6, m.Elsewhere*100)
	f.marks(&b)
	b.WriteString("\n")
	f.print(&b)
	harness.Settings(&b, m.facts.Datasets, map[string]map[string]string{"Parameters of ours": m.parameters})
	return b.String()
}

// saveRuns writes every run that was measured.
func (m *measured) saveRuns(folder string) error {
	for name, runs := range map[string][]cell.Cell{"zfs.jsonl": m.cells, "zfs-matrix.jsonl": m.turns} {
		if len(runs) == 0 {
			continue
		}
		if err := harness.SaveRuns(folder, name, runs); err != nil {
			return err
		}
	}
	return nil
}
