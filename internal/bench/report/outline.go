package report

import (
	"fmt"

	"github.com/pgstorage/pgstorage/internal/bench/report/chart"
)

// block of a report. What it has is shown in the order of the fields.
type block struct {
	heading    string
	level      int
	paragraphs []string
	items      []string
	table      *table
	// lines are drawn with characters, for forms that have no charts.
	lines  []string
	charts []chart.Chart
	// inner blocks, under a summary that can be opened.
	summary string
	inner   []block
}

// table whose first column names the row.
type table struct {
	caption string
	head    []string
	rows    [][]string
}

// outline of the report, the same for every form that is read by people. The
// charts are by group, nil for forms without.
func (r Report) outline(charts []groupCharts) []block {
	top := block{heading: "Benchmark " + r.About.Name, level: 1, paragraphs: append(r.caveats(), reading)}
	switch len(r.Groups) {
	case 0:
		top.paragraphs = append(top.paragraphs, "No run has ended, so there is no figure.")
	case 1:
	default:
		top.paragraphs = append(top.paragraphs, apart)
	}
	if facts := r.facts(); len(facts) > 0 {
		top.table = &table{caption: "What was measured", head: []string{"fact", "value"}, rows: facts}
	}
	out := []block{top}
	for i, g := range r.Groups {
		var c groupCharts
		if charts != nil {
			c = charts[i]
		}
		out = append(out, r.groupOutline(g, c)...)
	}
	return out
}

func (r Report) facts() [][]string {
	var rows [][]string
	if r.About.Time != "" {
		rows = append(rows, []string{"ended", r.About.Time})
	}
	for _, f := range r.About.Facts {
		rows = append(rows, []string{f.Name, f.Value})
	}
	return rows
}

func (r Report) groupOutline(g Group, c groupCharts) []block {
	shown, left := g.shownDifferences()
	var messages []string
	for _, d := range shown {
		messages = append(messages, d.Message)
	}
	blocks := []block{
		{heading: g.title(), level: 2, paragraphs: []string{g.acknowledged(), r.verdict(g)}, lines: g.gauges(), charts: c.overview, table: g.results()},
		{heading: "What is to be known of these figures", level: 3, items: g.knowledge()},
		{heading: "Comparisons", level: 3, items: append(messages, present(leftOut(left))...)},
	}
	blocks = append(blocks, r.matrixOutline(g, c.grids)...)
	blocks = append(blocks,
		block{heading: "Latency by percentile", level: 3, charts: c.curves, table: g.percentileTable()},
		g.layerOutline(c.layers),
		g.settingsOutline(),
		block{heading: "Runs that do not count", level: 3, table: g.uncountedTable()},
		g.runOutline(c.runs),
	)
	var kept []block
	for _, b := range blocks {
		if !b.empty() {
			kept = append(kept, b)
		}
	}
	return kept
}

// empty says that there is nothing under the heading.
func (b block) empty() bool {
	return len(b.paragraphs)+len(b.items)+len(b.lines)+len(b.charts)+len(b.inner) == 0 && b.table == nil
}

// present texts, without empty ones.
func present(texts ...string) []string {
	var out []string
	for _, t := range texts {
		if t != "" {
			out = append(out, t)
		}
	}
	return out
}

// knowledge are the flags of the group in full.
func (g Group) knowledge() []string {
	var items []string
	for _, v := range g.ordered() {
		if failed := v.failed(); len(failed) > 0 {
			items = append(items, v.Name+": Failed ("+of(failed)+")")
		}
		for _, f := range v.concerns() {
			items = append(items, v.Name+": "+f.String())
		}
		for _, d := range v.SettingsChanged {
			items = append(items, fmt.Sprintf("%s: a setting changed between repeats: %s", v.Name, d))
		}
	}
	return append(items, g.uncheckedItems()...)
}

// uncheckedItems say what was not checked, once for all variants that have it in
// common.
func (g Group) uncheckedItems() []string {
	var checks []string
	variants := map[string][]string{}
	for _, v := range g.ordered() {
		names := list(v.unchecked())
		if names == "" {
			continue
		}
		if variants[names] == nil {
			checks = append(checks, names)
		}
		variants[names] = append(variants[names], v.Name)
	}
	var items []string
	for _, names := range checks {
		items = append(items, fmt.Sprintf("%s: not checked in every repeat, for want of facts: %s", list(variants[names]), names))
	}
	return items
}

func (r Report) matrixOutline(g Group, charts []chart.Chart) []block {
	var blocks []block
	for _, f := range r.facets(g) {
		for _, figure := range []figure{tpsFigure, p99Figure} {
			if t := f.table(figure); t != nil {
				blocks = append(blocks, block{table: t})
			}
		}
	}
	if len(blocks) == 0 {
		return nil
	}
	return append([]block{{heading: "Matrix", level: 3, charts: charts, paragraphs: []string{"The mean of each variant with its interval, by the two axes with the most values."}}}, blocks...)
}

func (f facet) table(figure figure) *table {
	t := &table{caption: join(figure.axis(), "by", f.rows.Name, "and", f.columns.Name, f.fixed), head: []string{f.rows.Name}}
	for _, value := range f.columns.Values {
		t.head = append(t.head, join(f.columns.Name, value))
	}
	known := false
	for i, line := range f.variants {
		row := []string{f.rows.Values[i]}
		for _, v := range line {
			text := "not run"
			if v != nil {
				text = join(mean(figure.of(*v), ""), bracketed(v.flagged()))
				known = known || figure.of(*v) != nil
			}
			row = append(row, text)
		}
		t.rows = append(t.rows, row)
	}
	if !known {
		return nil
	}
	return t
}

func (g Group) layerOutline(charts []chart.Chart) block {
	b := block{heading: "Layers", level: 3, charts: charts}
	t := &table{caption: "Time of one operation by layer, and what of a transaction reaches it", head: []string{"layer", "variant", "measured by", "time (ms)", "stands on", "bytes", "flushes", "requests"}}
	for _, v := range g.ordered() {
		if text := attribution(v.Layers); text != "" {
			b.paragraphs = append(b.paragraphs, v.Name+": "+text)
		}
		for _, l := range v.Layers {
			t.rows = append(t.rows, []string{l.Name, v.Name, l.Method, l.time(), or(l.Over), counts(l.Bytes), counts(l.Flushes), counts(l.Requests)})
		}
	}
	if len(t.rows) > 0 {
		b.table = t
	}
	return b
}

func (g Group) settingsOutline() block {
	s := g.Settings
	b := block{heading: "Settings", level: 3, paragraphs: []string{s.sentence()}, items: append([]string(nil), s.Messages...)}
	for _, v := range g.ordered() {
		if v.Fingerprint != "" {
			b.items = append(b.items, v.Name+": fingerprint "+v.Fingerprint)
		}
	}
	if len(s.Different) == 0 {
		return b
	}
	b.table = &table{caption: "Settings that are not the same in all variants", head: append([]string{"setting"}, s.Variants...)}
	for _, d := range s.Different {
		row := []string{join(string(d.Group), d.Name)}
		for _, v := range d.Values {
			text := "(not set)"
			if v != nil {
				text = *v
			}
			row = append(row, text)
		}
		b.table.rows = append(b.table.rows, row)
	}
	return b
}

func (g Group) runOutline(charts [][]chart.Chart) block {
	b := block{heading: "Single runs", level: 3, paragraphs: []string{single}}
	for i, v := range g.ordered() {
		inner := block{items: present(v.flagged()), lines: v.sparklines(), table: v.repeatTable()}
		if charts != nil {
			inner.charts = charts[i]
		}
		b.inner = append(b.inner, block{summary: fmt.Sprintf("%s: %d of %d repeats count", v.Name, v.counted(), len(v.Repeats)), inner: []block{inner}})
	}
	return b
}
