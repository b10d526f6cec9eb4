//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	//nolint:depguard // what a measurement writes down

	"github.com/pgstorage/pgstorage/test/bench/harness"
	"github.com/pgstorage/pgstorage/test/bench/zfs/cell"
)

var place = harness.Place("bench-zfs")

// page of a run, in Markdown.
func page(o options, m *measured, f figures) string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "One run of %s: %d rounds of %d s for each line, after %d s of load. A flush takes %s, writes %s. "+
		"%s, 2 virtual processors, %d MiB; Linux %s, OpenZFS %s, %s; ARC at most %s. pgbench %s, scale %d, a database of %d MB. "+
		"Other programs took %.0f%% of the host's processors meanwhile.\n\n",
		m.took.Round(time.Minute), o.plan.Rounds, o.plan.Seconds, o.plan.WarmUp, o.latency, o.limit(),
		harness.Accelerator(m.accelerator), o.memory, m.facts.Kernel, m.facts.ZFS, m.facts.Postgres, o.arc, o.plan.Script, o.plan.Scale,
		m.facts.DatabaseBytes/1e6, m.elsewhere*100)
	f.marks(&b)
	b.WriteString("\n")
	f.print(&b)
	harness.Settings(&b, m.facts.Datasets, map[string]map[string]string{"Parameters of ours": m.parameters})
	return b.String()
}

// write the report into the document, and the plots beside it.
func write(folder, text string, f figures) error {
	return errors.Join(place.Write(filepath.Join(folder, "zfs.md"), text), f.plots(folder))
}

// keep every run, before anything is made of it.
func (m *measured) keep(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, runs := range map[string][]cell.Cell{"zfs.jsonl": m.cells, "zfs-matrix.jsonl": m.turns} {
		if len(runs) == 0 {
			continue
		}
		lines, err := harness.Lines(runs)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), lines, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
