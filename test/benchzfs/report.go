//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/document" //nolint:depguard // what a measurement writes down
)

// What stands between these lines of zfs.md is a run's; the rest is a person's.
const (
	beginOfReport = "<!-- written by make bench-zfs -->"
	endOfReport   = "<!-- end of what make bench-zfs writes -->"
)

var place = document.Place{Begin: beginOfReport, End: endOfReport}

// report of a run, in Markdown.
func report(o options, m *measured, f figures) string {
	var b strings.Builder
	accelerator := map[string]string{"tcg": "An emulated processor (QEMU's TCG)", "kvm": "KVM"}[m.accelerator]
	rate := "without limit"
	if o.rate > 0 {
		rate = fmt.Sprintf("at most %d MB/s", o.rate)
	}
	_, _ = fmt.Fprintf(&b, "One run of %s: %d rounds of %d s for each line, after %d s of load. A flush takes %s, writes go %s. "+
		"%s, 2 virtual processors, %d MiB; Linux %s, OpenZFS %s, %s; ARC at most %s. pgbench %s, scale %d, a database of %d MB. "+
		"Other programs took %.0f%% of the host's processors meanwhile.\n\n",
		m.took.Round(time.Minute), o.plan.Rounds, o.plan.Seconds, o.plan.WarmUp, o.latency, rate,
		accelerator, o.memory, m.facts.Kernel, m.facts.ZFS, m.facts.Postgres, o.arc, o.plan.Script, o.plan.Scale,
		m.facts.DatabaseBytes/1e6, m.elsewhere*100)
	f.marks(&b)
	b.WriteString("\n")
	f.print(&b)
	b.WriteString("\n<details><summary>Properties and parameters</summary>\n\n```\n")
	b.WriteString(strings.Join(m.facts.Datasets, "\n") + "\n\n")
	for _, name := range slices.Sorted(maps.Keys(m.parameters)) {
		_, _ = fmt.Fprintf(&b, "%s = %s\n", name, m.parameters[name])
	}
	b.WriteString("```\n\n</details>\n")
	return b.String()
}

// write the report into the document, the plots and every run beside it.
func write(folder, text string, m *measured, f figures) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	var raw bytes.Buffer
	lines := json.NewEncoder(&raw)
	for _, c := range m.cells {
		if err := lines.Encode(c); err != nil {
			return err
		}
	}
	return errors.Join(
		place.Write(filepath.Join(folder, "zfs.md"), text),
		os.WriteFile(filepath.Join(folder, "zfs.jsonl"), raw.Bytes(), 0o644),
		f.plots(folder),
	)
}
