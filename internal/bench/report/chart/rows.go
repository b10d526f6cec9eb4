package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Row of a chart, with its name beside its marks or, in a narrow layout, above them.
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

// Axis of values. Logarithmic allows a logarithmic scale, which is used if the values span 2
// decades or more; otherwise the axis begins at zero.
type Axis struct {
	Label       string
	Logarithmic bool
}

const (
	rowHeight       = 34
	narrowRowHeight = 48
	capWidth        = 7
	// mostGutter is the share of a chart that names may take.
	mostGutter = 0.4
	// namesGap is between the names and the marks.
	namesGap = 18
)

// Marks of charts with rows.
var (
	interval     = draw.LineStyle{Color: ink, Width: vg.Points(1.5)}
	meanMark     = draw.GlyphStyle{Color: blue, Radius: vg.Points(4.5), Shape: draw.CircleGlyph{}}
	valueMark    = draw.GlyphStyle{Color: faint, Radius: vg.Points(3), Shape: draw.RingGlyph{}}
	rejectedMark = draw.GlyphStyle{Color: orange, Radius: vg.Points(5), Shape: draw.CrossGlyph{}}
)

// Intervals of means, one row for each variant.
func Intervals(title, text string, axis Axis, rows []Row) (Chart, error) {
	return both(title, text, func(l layout) (drawing, error) {
		l = l.forNames(rows)
		p, s, err := rowAxes(axis, rows, l)
		if err != nil {
			return drawing{}, err
		}
		entries := []entry{
			{text: "mean and its 95% interval", line: &interval, glyph: &meanMark, capped: true},
			{text: "a repeat", glyph: &valueMark},
		}
		var values, rejected, means plotter.XYs
		for i, r := range rows {
			values = append(values, marks(i, s, r.Values...)...)
			rejected = append(rejected, marks(i, s, r.Rejected...)...)
			if r.Mean != nil {
				means = append(means, marks(i, s, *r.Mean)...)
			}
		}
		addMarks(p, values, valueMark)
		p.Add(intervals{rows, s})
		addMarks(p, means, meanMark)
		if len(rejected) > 0 {
			addMarks(p, rejected, rejectedMark)
			entries = append(entries, entry{text: "an excluded repeat", glyph: &rejectedMark})
		}
		if s.log {
			entries = append(entries, entry{text: "logarithmic scale; an interval without a cap continues beyond it"})
		}
		return finish(p, l.width, l.gutter, rowsHeight(rows, l), entries)
	})
}

// Bars of what each row takes: the part of the row below it, and its own.
func Bars(title, text, axis string, rows []Row) (Chart, error) {
	return both(title, text, func(l layout) (drawing, error) {
		l = l.forNames(rows)
		p, s, err := rowAxes(Axis{Label: axis}, rows, l)
		if err != nil {
			return drawing{}, err
		}
		p.Add(bars(rows), intervals{rows, s})
		return finish(p, l.width, l.gutter, rowsHeight(rows, l), []entry{
			{text: "this layer", line: &draw.LineStyle{Color: blue, Width: barWidth}},
			{text: "the layers below", line: &draw.LineStyle{Color: rule, Width: barWidth}},
			{text: "95% interval", line: &interval, capped: true},
		})
	})
}

// forNames widens the gutter for the names of the rows, up to a share of the chart.
func (l layout) forNames(rows []Row) layout {
	if l.gutter == 0 {
		return l
	}
	for _, r := range rows {
		l.gutter = max(l.gutter, widthOf(r.Name, textStyle(textSize, ink))+namesGap, widthOf(r.Note, textStyle(smallSize, faint))+namesGap)
	}
	l.gutter = min(l.gutter, l.width*mostGutter)
	return l
}

func (l layout) rowHeight() vg.Length {
	if l.gutter > 0 {
		return rowHeight
	}
	return narrowRowHeight
}

func rowsHeight(rows []Row, l layout) vg.Length { return vg.Length(len(rows))*l.rowHeight() + 48 }

// marks of a row.
func marks(row int, s scale, values ...float64) plotter.XYs {
	var out plotter.XYs
	for _, v := range values {
		out = append(out, plotter.XY{X: s.at(v), Y: -float64(row)})
	}
	return out
}

// rowAxes are those of rows with names, whose marks are added after. Values must be
// finite.
func rowAxes(axis Axis, rows []Row, l layout) (*plot.Plot, scale, error) {
	p := axes(axis.Label, l.width-l.gutter)
	hideY(p)
	var values, ends []float64
	for _, r := range rows {
		values = append(append(values, r.Values...), r.Rejected...)
		ends = append(ends, r.Below)
		if r.Mean != nil {
			values = append(values, *r.Mean)
		}
		if r.Interval != nil {
			ends = append(ends, r.Interval.Lower, r.Interval.Upper)
		}
	}
	if err := finite(append(values, ends...)); err != nil {
		return nil, scale{}, err
	}
	s := scaleOf(values, ends, axis.Logarithmic)
	// Names that differ in length leave the ticks as they are.
	s.set(&p.X, l.width*(1-mostGutter), l.tick)
	p.Y.Min, p.Y.Max = -float64(len(rows)-1)-0.5, 0.5
	if l.gutter == 0 {
		p.Y.Min, p.Y.Max = p.Y.Min+0.15, p.Y.Max+0.35
	}
	p.Add(grid(true, false), names{rows, l})
	return p, s, nil
}

func finite(values []float64) error {
	if len(values) == 0 {
		return nil
	}
	return plotter.CheckFloats(values...)
}

func addMarks(p *plot.Plot, marks plotter.XYs, style draw.GlyphStyle) {
	if len(marks) > 0 {
		p.Add(unboxed{&plotter.Scatter{XYs: marks, GlyphStyle: style}})
	}
}

// intervals of rows. An end beyond the scale has no cap.
type intervals struct {
	rows []Row
	scale
}

// Plot implements plot.Plotter.
func (e intervals) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, r := range e.rows {
		if r.Mean == nil || r.Interval == nil {
			continue
		}
		at := y(-float64(i))
		c.StrokeLine2(interval, x(e.at(r.Interval.Lower)), at, x(e.at(r.Interval.Upper)), at)
		for _, end := range []float64{r.Interval.Lower, r.Interval.Upper} {
			if end == e.at(end) {
				c.StrokeLine2(interval, x(end), at-capWidth/2, x(end), at+capWidth/2)
			}
		}
	}
}

// unboxed plotter takes the axes as they are: it neither widens them nor asks for
// room around its glyphs.
type unboxed struct{ plot.Plotter }

// names of rows, in the gutter or above their marks.
type names struct {
	rows []Row
	layout
}

// Plot implements plot.Plotter.
func (n names) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	name, note := textStyle(textSize, ink), textStyle(smallSize, faint)
	left, room := c.Min.X, c.Max.X-c.Min.X
	if n.gutter > 0 {
		left, room = c.Min.X-n.gutter, n.gutter-namesGap+1
	}
	for i, r := range n.rows {
		at := y(-float64(i))
		upper, lower := at+3, at-10
		switch {
		case n.gutter == 0:
			upper, lower = at+22, at+9
			if r.Note == "" {
				upper = at + 10
			}
		case r.Note == "":
			upper = at - textSize/3
		}
		c.FillText(name, vg.Point{X: left, Y: upper}, fit(r.Name, name, room))
		if r.Note != "" {
			c.FillText(note, vg.Point{X: left, Y: lower}, fit(r.Note, note, room))
		}
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
