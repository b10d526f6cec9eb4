//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/benchmark" //nolint:depguard // what a measurement writes down
)

var place = benchmark.Place("bench-runner")

// report of a run, in Markdown.
func report(o options, m *measured, f figures) string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "One run of %s: %d pairs of runs of %s for each line, after %s of load on tables that were filled anew for every %d pairs. %s, processors that server, pgbench and runner share: %d; scale %d, %s. "+
		"Other programs took %.0f%% of the processors before it began.\n\n",
		m.took.Round(time.Minute), o.pairs, o.seconds, o.warmUp, pairsOfBlock, strings.TrimSpace(m.version), runtime.NumCPU(), o.scale, strings.Join(settings, ", "), m.elsewhere*100)
	f.print(&b, ofRunner)
	b.WriteString("\n")
	for _, l := range f.lines {
		if ofRunner(l) {
			_, _ = fmt.Fprintf(&b, "- %s: %s\n", l.key, l.sentence())
		}
	}
	if o.parts {
		b.WriteString("\n**Each option by itself**\n\n")
		f.print(&b, func(l line) bool { return !ofRunner(l) })
	}
	return b.String()
}

// sentence of a verdict.
func (l line) sentence() string {
	log := fmt.Sprintf("its log had %.0f%% of the transactions", 100*l.sampled.Mean)
	switch l.verdict() {
	case pass:
		return fmt.Sprintf("the runner costs at most %.0f %%; %s.", 100*mostCost, log)
	case miss:
		return fmt.Sprintf("the runner costs more than %.0f %%; %s.", 100*mostCost, log)
	}
	return fmt.Sprintf("whether the runner costs more than %.0f %% cannot be told; with this spread about %d pairs would; %s.", 100*mostCost, l.wanted(), log)
}

// write the report into the document, and every run beside it.
func write(folder, text string, m *measured) error {
	lines, err := benchmark.Lines(m.runs)
	if err != nil {
		return err
	}
	return errors.Join(
		os.MkdirAll(folder, 0o755),
		place.Write(filepath.Join(folder, "runner.md"), text),
		os.WriteFile(filepath.Join(folder, "runner.jsonl"), lines, 0o644),
	)
}
