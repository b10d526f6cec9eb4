package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/internal/bench/report/chart"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// facet of a group: the variants that differ only in two axes.
type facet struct {
	// fixed values of the other axes that differ in the group, as "profile=zfs".
	fixed         string
	columns, rows Axis
	// variants by row and column; nil where there is none.
	variants [][]*Variant
}

// facets of a group whose variants differ in two or more axes; the two with the most
// values become rows and columns.
func (r Report) facets(g Group) []facet {
	var varied []Axis
	for _, a := range r.Axes {
		if values := g.values(a); len(values) > 1 {
			varied = append(varied, Axis{a.Name, values})
		}
	}
	if len(varied) < 2 {
		return nil
	}
	slices.SortStableFunc(varied, func(a, b Axis) int { return cmp.Compare(len(b.Values), len(a.Values)) })
	rows, columns, rest := varied[0], varied[1], varied[2:]
	var out []facet
	for i := range g.Variants {
		v := &g.Variants[i]
		row, column := slices.Index(rows.Values, v.Values[rows.Name]), slices.Index(columns.Values, v.Values[columns.Name])
		if row < 0 || column < 0 {
			// A variant by name, with values of its own.
			continue
		}
		fixed := v.fixed(rest)
		at := slices.IndexFunc(out, func(f facet) bool { return f.fixed == fixed && f.variants[row][column] == nil })
		if at < 0 {
			out, at = append(out, newFacet(fixed, columns, rows)), len(out)
		}
		out[at].variants[row][column] = v
	}
	return out
}

func newFacet(fixed string, columns, rows Axis) facet {
	f := facet{fixed: fixed, columns: columns, rows: rows}
	for range rows.Values {
		f.variants = append(f.variants, make([]*Variant, len(columns.Values)))
	}
	return f
}

// values of an axis that variants of the group have, in the order of the axis.
func (g Group) values(a Axis) []string {
	return slices.DeleteFunc(slices.Clone(a.Values), func(value string) bool {
		return !slices.ContainsFunc(g.Variants, func(v Variant) bool { return v.Values[a.Name] == value })
	})
}

// fixed values of a variant on other axes.
func (v Variant) fixed(axes []Axis) string {
	var words []string
	for _, a := range axes {
		words = append(words, a.Name+"="+v.Values[a.Name])
	}
	return strings.Join(words, " ")
}

// grid of a figure over a facet, and its text alternative.
func (f facet) grid(group Group, figure figure) (g chart.Grid, text string, known bool) {
	g = chart.Grid{ColumnAxis: f.columns.Name, RowAxis: f.rows.Name, Columns: f.columns.Values, Rows: f.rows.Values, LowerIsBetter: figure.latency}
	var words []string
	for row, line := range f.variants {
		var cells []chart.Cell
		for column, v := range line {
			c := group.cell(v, figure.of)
			known = known || c.Value != nil
			cells = append(cells, c)
			words = append(words, f.rows.Name+" "+f.rows.Values[row]+", "+f.columns.Name+" "+f.columns.Values[column]+": "+strings.Join(c.Lines, " "))
		}
		g.Cells = append(g.Cells, cells)
	}
	return g, strings.Join(words, "; ") + ".", known
}

func (g Group) cell(v *Variant, figure func(Variant) *statistics.Summary) chart.Cell {
	if v == nil {
		return chart.Cell{Lines: []string{"not run"}}
	}
	s := figure(*v)
	if s == nil {
		return chart.Cell{Lines: []string{"no counted", "repeat"}}
	}
	c := chart.Cell{Value: &s.Mean, Lines: []string{number(s.Mean), "no interval"}}
	if s.Interval != nil {
		c.Lines[1] = number(s.Interval.Lower) + " – " + number(s.Interval.Upper)
	}
	if text := references(g.caveatsOf(*v)); text != "" {
		c.Lines = append(c.Lines, text)
	}
	return c
}
