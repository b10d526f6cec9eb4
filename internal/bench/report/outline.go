package report

import (
	"fmt"

	"github.com/pgstorage/pgstorage/internal/bench/report/chart"
	"github.com/pgstorage/pgstorage/internal/bench/report/document"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// outline of the report, shared by text, Markdown and HTML. charts are by group; nil for
// forms without charts.
func (r Report) outline(charts []groupCharts) []document.Block {
	top := document.Block{Heading: "Benchmark " + r.About.Name, Level: 1, Paragraphs: append(r.caveats(), reading)}
	switch len(r.Groups) {
	case 0:
		top.Paragraphs = append(top.Paragraphs, "No run has ended, so there are no figures.")
	case 1:
	default:
		top.Paragraphs = append(top.Paragraphs, apart)
	}
	if facts := r.facts(); len(facts) > 0 {
		top.Table = &document.Table{Caption: "Setup", Head: []string{"property", "value"}, Rows: facts}
	}
	out := []document.Block{top}
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

func (r Report) groupOutline(g Group, c groupCharts) []document.Block {
	shown, left := g.shownDifferences()
	var messages []string
	for _, d := range shown {
		messages = append(messages, d.Message)
	}
	blocks := []document.Block{
		{Heading: g.title(), Level: 2, Paragraphs: []string{g.acknowledged(), r.verdict(g)}, Lines: g.gauges(), Charts: c.overview, Table: g.results()},
		{Heading: "Caveats", Level: 3, Items: g.caveatItems()},
		{Heading: "Comparisons", Level: 3, Items: append(messages, present(leftOut(left))...)},
	}
	blocks = append(blocks, r.matrixOutline(g, c.grids)...)
	blocks = append(blocks,
		document.Block{Heading: "Latency by percentile", Level: 3, Charts: c.curves, Table: g.percentileTable()},
		g.layerOutline(c.layers),
		g.settingsOutline(),
		document.Block{Heading: "Excluded runs", Level: 3, Table: g.excludedTable()},
		g.runOutline(c.runs),
	)
	var kept []document.Block
	for _, b := range blocks {
		if !b.Empty() {
			kept = append(kept, b)
		}
	}
	return kept
}

// present returns the texts that are not empty.
func present(texts ...string) []string {
	var out []string
	for _, t := range texts {
		if t != "" {
			out = append(out, t)
		}
	}
	return out
}

// caveatItems are the flags of the group's variants with their full messages. The verdict
// explains declared CPU limits, once for all variants.
func (g Group) caveatItems() []string {
	var items []string
	for _, v := range g.ordered() {
		if failed := v.failed(); len(failed) > 0 {
			items = append(items, v.Name+": Failed ("+of(failed)+")")
		}
		for _, f := range v.concerns() {
			if f.Reason == validity.ReasonCPULimitReached {
				continue
			}
			items = append(items, v.Name+": "+f.String())
		}
		for _, d := range v.SettingsChanged {
			items = append(items, fmt.Sprintf("%s: a setting changed between repeats: %s", v.Name, d))
		}
	}
	return append(items, g.uncheckedItems()...)
}

// uncheckedItems name the checks that did not run, grouping variants with the same gaps.
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
		items = append(items, fmt.Sprintf("%s: not checked in every repeat, because facts are missing: %s", list(variants[names]), names))
	}
	return items
}

func (r Report) matrixOutline(g Group, charts []chart.Chart) []document.Block {
	var blocks []document.Block
	for _, f := range r.facets(g) {
		for _, figure := range []figure{tpsFigure, p99Figure} {
			if t := f.table(figure); t != nil {
				blocks = append(blocks, document.Block{Table: t})
			}
		}
	}
	if len(blocks) == 0 {
		return nil
	}
	return append([]document.Block{{Heading: "Matrix", Level: 3, Charts: charts, Paragraphs: []string{"Each cell shows the mean of a variant with its interval, for the two axes with the most values."}}}, blocks...)
}

func (f facet) table(figure figure) *document.Table {
	t := &document.Table{Caption: join(figure.axis(), "by", f.rows.Name, "and", f.columns.Name, f.fixed), Head: []string{f.rows.Name}}
	for _, value := range f.columns.Values {
		t.Head = append(t.Head, join(f.columns.Name, value))
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
		t.Rows = append(t.Rows, row)
	}
	if !known {
		return nil
	}
	return t
}

func (g Group) layerOutline(charts []chart.Chart) document.Block {
	b := document.Block{Heading: "Layers", Level: 3, Charts: charts}
	t := &document.Table{Caption: "Time of one operation by layer, and the I/O of one transaction at that layer", Head: []string{"layer", "variant", "method", "time (ms)", "layer below", "bytes", "flushes", "requests"}}
	for _, v := range g.ordered() {
		if text := attribution(v.Layers); text != "" {
			b.Paragraphs = append(b.Paragraphs, v.Name+": "+text)
		}
		for _, l := range v.Layers {
			t.Rows = append(t.Rows, []string{l.Name, v.Name, l.Method, l.time(), or(l.Over), counts(l.Bytes), counts(l.Flushes), counts(l.Requests)})
		}
	}
	if len(t.Rows) > 0 {
		b.Table = t
	}
	return b
}

func (g Group) settingsOutline() document.Block {
	s := g.Settings
	b := document.Block{Heading: "Settings", Level: 3, Paragraphs: []string{s.sentence()}, Items: append([]string(nil), s.Messages...)}
	for _, v := range g.ordered() {
		if v.Fingerprint != "" {
			b.Items = append(b.Items, v.Name+": fingerprint "+v.Fingerprint)
		}
	}
	if len(s.Different) == 0 {
		return b
	}
	b.Table = &document.Table{Caption: "Settings that differ between variants", Head: append([]string{"setting"}, s.Variants...)}
	for _, d := range s.Different {
		row := []string{join(string(d.Group), d.Name)}
		for _, v := range d.Values {
			text := "(not set)"
			if v != nil {
				text = *v
			}
			row = append(row, text)
		}
		b.Table.Rows = append(b.Table.Rows, row)
	}
	return b
}

func (g Group) runOutline(charts [][]chart.Chart) document.Block {
	b := document.Block{Heading: "Individual runs", Level: 3, Paragraphs: []string{single}}
	for i, v := range g.ordered() {
		inner := document.Block{Items: present(v.flagged()), Lines: v.sparklines(), Table: v.repeatTable()}
		if charts != nil {
			inner.Charts = charts[i]
		}
		b.Inner = append(b.Inner, document.Block{Summary: fmt.Sprintf("%s: %d of %d repeats counted", v.Name, v.counted(), len(v.Repeats)), Inner: []document.Block{inner}})
	}
	return b
}
