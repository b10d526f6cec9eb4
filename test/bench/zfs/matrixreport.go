//go:build linux

package zfs

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/comparison"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/test/bench/harness"
)

var matrixPlace = harness.Place("bench-zfs of the matrix")

// matrixReport in Markdown: a table for each tier, and what can be claimed.
func matrixReport(o options, m *measured, x matrixOf) string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "In a run of %s: %d repeats of %d s for each variant in each tier, after %d s of load, in an order by lot (seed %d). %d clients, pgbench %s, scale %d. "+
		"A flush takes %s, writes %s. %s; Linux %s, OpenZFS %s, %s; shared_buffers of %s in each of %d databases, ARC at most %s for all. "+
		"Other programs took %.0f%% of the host's processors meanwhile.\n",
		m.Took.Round(time.Minute), o.repeats, o.Plan.Seconds, o.Plan.WarmUp, o.seed, o.matrix.Clients, o.Plan.Script, o.Plan.Scale,
		o.Flush, o.limit(), m.Processor(), m.facts.Kernel, m.facts.ZFS, m.facts.Postgres,
		o.matrix.Parameters["shared_buffers"], len(variants), o.ARC, m.Elsewhere*100)
	for _, g := range x.groups {
		_, _ = fmt.Fprintf(&b, "\n**%s commits (%s), means with their 95%% intervals**\n\n", capital(harness.Group{Durable: g.durable}.Commit()), harness.Group{Durable: g.durable}.Tier())
		g.print(&b)
		b.WriteString("\n")
		for _, f := range []struct {
			name string
			all  map[string]comparison.Difference
		}{{"TPS", g.tps}, {"Bytes written per transaction", g.bytes}} {
			_, _ = fmt.Fprintf(&b, "- %s\n", g.claim(f.name, f.all))
		}
		g.concerns(&b)
	}
	b.WriteString("\nThe first two after the profile change more than one thing: ")
	var several []string
	for _, v := range variants {
		if len(v.Data) > 1 {
			several = append(several, v.Name+" is "+changes(v))
		}
	}
	b.WriteString(strings.Join(several, "; ") + ".\n")
	b.WriteString("\n![TPS and p99 latency of every variant, with 95% intervals](zfs-matrix.svg)\n\nEvery run is a line of [zfs-matrix.jsonl](zfs-matrix.jsonl).\n")
	harness.Settings(&b, nil, map[string]map[string]string{"The profile's properties": m.facts.Properties[theProfile], "The profile's parameters": m.facts.Parameters[theProfile]})
	return b.String()
}

// limit of what the disk writes, in words.
func (o options) limit() string {
	if o.rate > 0 {
		return fmt.Sprintf("at most %d MB/s", o.rate)
	}
	return "go without limit"
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// print the table of a tier.
func (g group) print(out io.Writer) {
	harness.Header(out, "what is changed", "TPS", "against the profile", "", "kB written per transaction", "against the profile", "", "p99 latency, ms", "repeats that count")
	for _, v := range g.variants {
		var values []float64
		for _, bytes := range g.written[v.Name] {
			values = append(values, bytes)
		}
		slices.Sort(values)
		written := harness.Summary(values)
		_, _ = fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s | %d of %d |\n", g.short(v.Name), mean(v.TPS, 1), held(g.tps, v.Name),
			mean(&written, 1e3), held(g.bytes, v.Name), mean(v.LatencyP99, 1), written.N, len(v.Repeats))
	}
}

// mean with its interval.
func mean(s *statistics.Summary, unit float64) string {
	switch {
	case s == nil || s.N == 0:
		return "–"
	case s.Interval == nil:
		return fmt.Sprintf("%.1f", s.Mean/unit)
	}
	return fmt.Sprintf("%.1f (%.1f to %.1f)", s.Mean/unit, s.Interval.Lower/unit, s.Interval.Upper/unit)
}

// held compares a variant with the profile: two cells.
func held(differences map[string]comparison.Difference, variant string) string {
	d, compared := differences[variant]
	if !compared {
		return " | "
	}
	return harness.Ratio(d.Comparison) + " | " + words[d.Verdict]
}

var words = map[comparison.Conclusion]string{
	comparison.Better: "better", comparison.Worse: "worse", comparison.NoDifference: "no difference can be claimed", comparison.NotComparable: "cannot be compared",
}

// claim names what matters, and what the runs cannot decide.
func (g group) claim(figure string, all map[string]comparison.Difference) string {
	var parts []string
	for _, verdict := range []comparison.Conclusion{comparison.Better, comparison.Worse, comparison.NoDifference, comparison.NotComparable} {
		var names []string
		for _, v := range g.variants {
			if d, compared := all[v.Name]; compared && d.Verdict == verdict {
				names = append(names, g.short(v.Name))
			}
		}
		if len(names) > 0 {
			parts = append(parts, capital(words[verdict])+": "+strings.Join(names, ", "))
		}
	}
	return fmt.Sprintf("%s, against the profile. %s. Corrected for %d comparisons (Holm).", figure, strings.Join(parts, ". "), len(all))
}

// concerns are what the checks found, each once.
func (g group) concerns(out io.Writer) {
	found := map[string][]string{}
	var order []string
	for _, v := range g.variants {
		for _, repeat := range v.Repeats {
			for _, f := range repeat.Findings {
				if f.Verdict != "Caution" && f.Verdict != "Rejected" {
					continue
				}
				title := fmt.Sprintf("%s (%s)", f.Reason, f.Verdict)
				if found[title] == nil {
					order = append(order, title)
				}
				found[title] = append(found[title], fmt.Sprintf("%s, repeat %d", g.short(v.Name), repeat.Repeat))
			}
		}
	}
	const few = 8
	for _, title := range order {
		where := ""
		if len(found[title]) <= few {
			where = ": " + strings.Join(found[title], "; ")
		}
		_, _ = fmt.Fprintf(out, "- The checks found %s in %d runs%s.\n", title, len(found[title]), where)
	}
}
