package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Row of a chart whose names stand above their marks, however long they are.
type Row struct {
	Name string
	// Note on the figures, as what is wrong with them.
	Note string
	// Mean, with the Interval where there is one; both nil where nothing counts.
	Mean     *float64
	Interval *Range
	// Values that the mean is of, and those that do not count.
	Values, Rejected []float64
	// Below is the part of a bar that is not the row's own.
	Below float64
}

// Range of an axis or of an interval.
type Range struct{ Lower, Upper float64 }

const (
	rowHeight = 46
	capWidth  = 7
)

// Marks of charts with rows.
var (
	interval     = draw.LineStyle{Color: ink, Width: vg.Points(1.5)}
	meanMark     = draw.GlyphStyle{Color: blue, Radius: vg.Points(4), Shape: draw.CircleGlyph{}}
	valueMark    = draw.GlyphStyle{Color: faint, Radius: vg.Points(3), Shape: draw.RingGlyph{}}
	rejectedMark = draw.GlyphStyle{Color: orange, Radius: vg.Points(5), Shape: draw.CrossGlyph{}}
)

// Intervals of means, one row for each variant, from zero on, so that lengths are
// ratios.
func Intervals(title, text, axis string, rows []Row) (Chart, error) {
	p, err := rowAxes(axis, rows)
	if err != nil {
		return Chart{}, err
	}
	entries := []entry{
		{text: "mean and its 95% interval", line: &interval, glyph: &meanMark, capped: true},
		{text: "a repeat", glyph: &valueMark},
	}
	var values, rejected, means plotter.XYs
	for i, r := range rows {
		values = append(values, at(i, r.Values...)...)
		rejected = append(rejected, at(i, r.Rejected...)...)
		if r.Mean != nil {
			means = append(means, at(i, *r.Mean)...)
		}
	}
	addMarks(p, values, valueMark)
	addIntervals(p, rows)
	addMarks(p, means, meanMark)
	if len(rejected) > 0 {
		addMarks(p, rejected, rejectedMark)
		entries = append(entries, entry{text: "an excluded repeat", glyph: &rejectedMark})
	}
	return finish(title, text, p, width, rowsHeight(rows), entries)
}

// Bars of what each row takes: the part of the row below it, and its own.
func Bars(title, text, axis string, rows []Row) (Chart, error) {
	p, err := rowAxes(axis, rows)
	if err != nil {
		return Chart{}, err
	}
	p.Add(bars(rows))
	addIntervals(p, rows)
	return finish(title, text, p, width, rowsHeight(rows), []entry{
		{text: "this layer", line: &draw.LineStyle{Color: blue, Width: barWidth}},
		{text: "the layers below", line: &draw.LineStyle{Color: rule, Width: barWidth}},
		{text: "95% interval", line: &interval, capped: true},
	})
}

func rowsHeight(rows []Row) vg.Length { return vg.Length(len(rows))*rowHeight + 54 }

// at is the marks of a row.
func at(row int, values ...float64) plotter.XYs {
	var marks plotter.XYs
	for _, v := range values {
		marks = append(marks, plotter.XY{X: v, Y: -float64(row)})
	}
	return marks
}

// rowAxes are those of rows with names, whose marks are added after. Values must be
// finite.
func rowAxes(axis string, rows []Row) (*plot.Plot, error) {
	p := axes(axis)
	hideY(p)
	least, most := 0.0, 0.0
	include := func(values ...float64) {
		for _, v := range values {
			least, most = math.Min(least, v), math.Max(most, v)
		}
	}
	for _, r := range rows {
		include(r.Values...)
		include(r.Rejected...)
		include(r.Below)
		if r.Mean != nil {
			include(*r.Mean)
		}
		if r.Interval != nil {
			include(r.Interval.Lower, r.Interval.Upper)
		}
	}
	if err := plotter.CheckFloats(least, most); err != nil {
		return nil, err
	}
	if most == least {
		most = 1
	}
	p.X.Min, p.X.Max = least, most+(most-least)/20
	p.Y.Min, p.Y.Max = -float64(len(rows)-1)-0.35, 0.8
	p.Add(grid(true, false), names(rows))
	return p, nil
}

func addMarks(p *plot.Plot, marks plotter.XYs, style draw.GlyphStyle) {
	if len(marks) > 0 {
		p.Add(unboxed{&plotter.Scatter{XYs: marks, GlyphStyle: style}})
	}
}

func addIntervals(p *plot.Plot, rows []Row) {
	e := &plotter.XErrorBars{LineStyle: interval, CapWidth: capWidth}
	for i, r := range rows {
		if r.Mean == nil || r.Interval == nil {
			continue
		}
		e.XYs = append(e.XYs, at(i, *r.Mean)...)
		e.XErrors = append(e.XErrors, struct{ Low, High float64 }{*r.Mean - r.Interval.Lower, r.Interval.Upper - *r.Mean})
	}
	p.Add(unboxed{e})
}

// unboxed plotter takes the axes as they are: it neither widens them nor asks for
// room around its glyphs.
type unboxed struct{ plot.Plotter }

// names of rows, above their marks.
type names []Row

// Plot implements plot.Plotter.
func (n names) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	name, note := textStyle(textSize, ink), textStyle(smallSize, faint)
	for i, r := range n {
		base := y(-float64(i)) + 9
		if r.Note != "" {
			c.FillText(note, vg.Point{X: c.Min.X, Y: base}, fit(r.Note, note, c.Max.X-c.Min.X))
			base += 13
		}
		c.FillText(name, vg.Point{X: c.Min.X, Y: base}, fit(r.Name, name, c.Max.X-c.Min.X))
	}
}

const barWidth = 10

// bars of rows.
type bars []Row

// Plot implements plot.Plotter.
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, r := range b {
		if r.Mean == nil {
			continue
		}
		bar := func(from, to float64, style colour) {
			c.StrokeLine2(draw.LineStyle{Color: style, Width: barWidth}, x(from), y(-float64(i)), x(to), y(-float64(i)))
		}
		below := math.Max(0, math.Min(r.Below, *r.Mean))
		bar(0, below, rule)
		bar(below, *r.Mean, blue)
	}
}
