package report

import (
	"fmt"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/comparison"
	"github.com/pgstorage/pgstorage/internal/bench/report/document"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// table of deltas in the form of benchstat (golang.org/x/perf/cmd/benchstat).
func (d Deltas) table(tier v1alpha1.DurabilityTier) *document.Table {
	better := "higher is better"
	if d.LowerIsBetter {
		better = "lower is better"
	}
	newer := d.New
	if newer == "" {
		newer = "the named variant"
	}
	figure := join(d.Figure, bracketed(d.Unit))
	short := join(strings.TrimSuffix(d.Figure, " latency"), d.Unit)
	t := &document.Table{
		Caption: fmt.Sprintf("%s, %s, durability %s; old: %s, new: %s", figure, better, tier, d.Old, newer),
		Head:    []string{"name", "old " + short, "new " + short, "delta"}, Numeric: []int{1, 2, 3}, Tones: map[document.Place]document.Tone{},
	}
	for i, row := range d.Rows {
		t.Rows = append(t.Rows, []string{row.Name, plusMinus(row.Old), plusMinus(row.New), row.delta()})
		switch row.Difference.Verdict {
		case comparison.Better:
			t.Tones[document.Place{Row: i, Column: 3}] = document.Better
		case comparison.Worse:
			t.Tones[document.Place{Row: i, Column: 3}] = document.Worse
		}
	}
	if m := d.Geomean; m != nil {
		t.Rows = append(t.Rows, []string{"geomean", number(m.Old), number(m.New), fmt.Sprintf("%+.2f%%", 100*(m.New/m.Old-1))})
	}
	return t
}

// plusMinus is a mean with half of its 95% interval, in percent.
func plusMinus(s *statistics.Summary) string {
	if s.Interval == nil {
		return number(s.Mean) + " ± ∞"
	}
	return fmt.Sprintf("%s ± %.0f%%", number(s.Mean), 100*(s.Interval.Upper-s.Mean)/s.Mean)
}

// delta with its p and n; "~" where no difference can be claimed.
func (d Delta) delta() string {
	n := fmt.Sprintf("n=%d+%d", d.Old.N, d.New.N)
	c := d.Difference.Comparison
	if c == nil {
		return "~ (" + n + ", not comparable)"
	}
	change := "~"
	if d.Difference.Verdict != comparison.NoDifference {
		change = fmt.Sprintf("%+.2f%%", 100*(c.Ratio-1))
	}
	return fmt.Sprintf("%s (p=%.3f %s)", change, d.Difference.P, n)
}

// deltaBlocks of a group: the comparison with the baseline, and that of each axis, folded.
func (g Group) deltaBlocks() []document.Block {
	if len(g.Deltas) == 0 {
		return nil
	}
	out := []document.Block{{Heading: "Differences", Level: 3, Paragraphs: []string{explained}}}
	var axes []document.Block
	for _, d := range g.Deltas {
		b := document.Block{Table: d.table(g.Durability)}
		if d.New == "" {
			out = append(out, b)
		} else {
			axes = append(axes, b)
		}
	}
	if len(axes) > 0 {
		out = append(out, document.Block{Inner: []document.Block{{Summary: "Differences by axis", Open: len(axes) <= openTables, Inner: axes}}})
	}
	shown, left := g.shownDifferences()
	var messages []string
	for _, d := range shown {
		messages = append(messages, d.Message)
	}
	words := document.Block{Items: append(messages, present(leftOut(left))...)}
	if words.Empty() {
		return out
	}
	return append(out, document.Block{Inner: []document.Block{{Summary: "Comparisons in words, with intervals", Inner: []document.Block{words}}}})
}

const (
	// openTables are not folded.
	openTables = 4
	explained  = "Each ± is half of the 95% interval of the mean. The delta is a ratio of geometric means, by repeat where both ran side by side. " +
		"~ means that no difference can be claimed."
)
