//go:build linux

package ceph

import (
	"fmt"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/test/bench/harness"
)

var place = harness.Place("bench-ceph")

// outcome of the cells.
func outcome(lab harness.Lab, m *measured) harness.Outcome {
	f := summarise(m.cells)
	return harness.Outcome{
		Report: report(lab, m, f), Page: "ceph.md", Place: place,
		Results: harness.Results("ceph", f.results()), Judge: f.judge,
		Files: func(folder string) error { return harness.SaveRuns(folder, "ceph.jsonl", m.cells) },
	}
}

// report of a run, in Markdown.
func report(lab harness.Lab, m *measured, f figures) string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "One run of %s: %d rounds of %d s for each line, after %d s of load. A flush of the disk takes %s. "+
		"%s, 2 virtual processors, %d MiB; Linux %s, OpenZFS %s, %s, %s; ARC at most %s. pgbench %s, scale %d, a database of %d MB. "+
		"Other programs took %.0f%% of the host's processors meanwhile.\n\n",
		m.Took.Round(time.Minute), lab.Plan.Rounds, lab.Plan.Seconds, lab.Plan.WarmUp, lab.Flush,
		m.Processor(), lab.Memory, m.facts.Kernel, m.facts.ZFS, m.facts.Ceph, m.facts.Postgres, lab.ARC, lab.Plan.Script, lab.Plan.Scale,
		m.facts.DatabaseBytes/1e6, m.Elsewhere*100)
	f.marks(&b)
	b.WriteString("\n**Rates**\n\n")
	f.print(&b)
	b.WriteString("\n**kB written per transaction at each layer, median (least to most); 95% interval of the mean; with what is left to the checkpoint**\n\n")
	f.printLayers(&b)
	b.WriteString("\nPostgres: WAL and pages. RBD: what ext4 wrote to the images. OSD: what the OSDs were asked to write, by the kernel's client and by each other. " +
		"zvol: what the OSDs wrote to their devices. disk: what ZFS wrote, for the mon too.\n")
	harness.Settings(&b, m.facts.Settings, map[string]map[string]string{"ZFS dataset": m.dataset, "Ceph, ours": m.ours})
	return b.String()
}
