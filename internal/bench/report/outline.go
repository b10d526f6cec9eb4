package report

import (
	"fmt"
	"slices"

	"github.com/pgstorage/pgstorage/internal/bench/report/chart"
	"github.com/pgstorage/pgstorage/internal/bench/report/document"
)

// outline of the report, shared by text, Markdown and HTML. charts are by group; nil for
// forms without charts.
func (r Report) outline(charts []groupCharts) []document.Block {
	top := document.Block{Heading: "Benchmark " + r.About.Name, Level: 1, Headlines: r.headlines(), Paragraphs: r.caveats()}
	switch len(r.Groups) {
	case 0:
		top.Paragraphs = append(top.Paragraphs, "No run has ended, so there are no figures.")
	case 1:
	default:
		top.Paragraphs = append(top.Paragraphs, apart)
	}
	top.Paragraphs = append(top.Paragraphs, reading)
	out := []document.Block{top}
	for i, g := range r.Groups {
		var c groupCharts
		if charts != nil {
			c = charts[i]
		}
		out = append(out, r.groupOutline(g, c)...)
	}
	if facts := r.facts(); len(facts) > 0 {
		out = append(out, document.Block{Heading: "Setup", Level: 2, Table: &document.Table{Caption: "What was measured", Head: []string{"property", "value"}, Rows: facts}})
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
	blocks := []document.Block{
		{Heading: g.title(), Level: 2, Paragraphs: []string{g.acknowledged()}, Lines: g.gauges(), Charts: c.overview, Table: g.results()},
		{Heading: "Caveats", Level: 3, Items: g.caveatItems(), Numbered: true},
	}
	blocks = append(blocks, g.deltaBlocks()...)
	blocks = append(blocks, r.matrixOutline(g, c.grids)...)
	blocks = append(blocks,
		g.runOutline(c.runs),
		document.Block{Heading: "Latency by percentile", Level: 3, Charts: c.curves, Table: g.percentileTable()},
		g.layerOutline(c.layers),
		g.settingsOutline(),
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
		items = append(items, fmt.Sprintf("%s: not checked in every repeat, because facts are missing: %s", g.named(variants[names]), names))
	}
	return items
}

// named are variants as a list, or all of the group.
func (g Group) named(variants []string) string {
	if len(variants) == len(g.Variants) && len(variants) > 1 {
		return allOf(len(variants))
	}
	return few(variants)
}

func allOf(variants int) string {
	if variants == 2 {
		return "both variants"
	}
	return fmt.Sprintf("all %d variants", variants)
}

func (r Report) matrixOutline(g Group, charts []chart.Chart) []document.Block {
	var blocks []document.Block
	for _, f := range r.facets(g) {
		for _, figure := range []figure{tpsFigure, p99Figure} {
			if t := f.table(g, figure); t != nil {
				blocks = append(blocks, document.Block{Table: t})
			}
		}
	}
	if len(blocks) == 0 {
		return nil
	}
	return []document.Block{{
		Heading: "Matrix", Level: 3, Charts: charts, Paragraphs: []string{"Each cell shows the mean of a variant with its interval, for the two axes with the most values."},
		Inner: []document.Block{{Summary: "The matrix as tables", Inner: blocks}},
	}}
}

func (f facet) table(g Group, figure figure) *document.Table {
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
				text = join(mean(figure.of(*v), ""), bracketed(references(g.caveatsOf(*v))))
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

// fewRuns is up to how many variants the runs of each are shown. Of more, those of the first
// are, and the others are folded.
const fewRuns = 3

func (g Group) runOutline(charts [][]chart.Chart) document.Block {
	common := g.Variants[0].observation()
	if slices.ContainsFunc(g.Variants, func(v Variant) bool { return v.observation() != common }) {
		common = ""
	}
	b := document.Block{Heading: "Runs over time", Level: 3, Paragraphs: present(single, common)}
	for i, v := range g.ordered() {
		own := v.observation()
		if common != "" {
			own = ""
		}
		inner := []document.Block{{Paragraphs: present(own), Lines: v.sparklines()}, v.eventOutline(), {Table: g.repeatTable(v)}}
		if charts != nil {
			inner[0].Charts = charts[i]
		}
		summary := join(fmt.Sprintf("%s: %d of %d repeats counted", v.Name, v.counted(), len(v.Repeats)), bracketed(references(g.caveatsOf(v))))
		b.Inner = append(b.Inner, document.Block{Summary: summary, Open: i == 0 || len(g.Variants) <= fewRuns, Inner: inner})
	}
	return b
}
