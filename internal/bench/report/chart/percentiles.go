package chart

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Curve of percentiles.
type Curve struct {
	Name string
	// Count of what the percentiles are of: the highest is drawn at the share that
	// is one of so many.
	Count int64
	// Points, X in percent.
	Points []Point
	// Intervals at some percents.
	Intervals []PercentInterval
}

// PercentInterval is the interval of a mean at a percent.
type PercentInterval struct {
	Percent, Mean float64
	Range
}

// MostCurves is how many curves stay distinct in one chart.
const MostCurves = 5

// curveStyles differ in colour, dashes and glyph.
var curveStyles = [MostCurves]struct {
	line  draw.LineStyle
	glyph draw.GlyphDrawer
}{
	{draw.LineStyle{Color: blue}, draw.CircleGlyph{}},
	{draw.LineStyle{Color: orange, Dashes: []vg.Length{6, 3}}, draw.PyramidGlyph{}},
	{draw.LineStyle{Color: green, Dashes: []vg.Length{2, 2}}, draw.BoxGlyph{}},
	{draw.LineStyle{Color: purple, Dashes: []vg.Length{8, 3, 2, 3}}, draw.RingGlyph{}},
	{draw.LineStyle{Color: brown, Dashes: []vg.Length{1, 3}}, draw.CrossGlyph{}},
}

// Percentiles of up to MostCurves, the horizontal axis stretched so that 90, 99 and 99.9% are
// equally far apart. The vertical one is logarithmic where the values span 2 decades or more.
func Percentiles(title, text string, curves []Curve) (Chart, error) {
	if len(curves) > MostCurves {
		return Chart{}, fmt.Errorf("%d curves in one chart are more than %d", len(curves), MostCurves)
	}
	return both(title, text, func(l layout) (drawing, error) {
		p := axes("percent of the transactions", l.width)
		s := curveScale(curves)
		p.Add(grid(true, true))
		var entries []entry
		for i, c := range curves {
			line := curveStyles[i].line
			line.Width = vg.Points(1.5)
			glyph := draw.GlyphStyle{Color: line.Color, Radius: vg.Points(3), Shape: curveStyles[i].glyph}
			dodge := (float64(i) - float64(len(curves)-1)/2) / 40
			if err := addCurve(p, c, s, dodge, line, glyph); err != nil {
				return drawing{}, err
			}
			entries = append(entries, entry{text: c.Name, line: &line, glyph: &glyph})
		}
		entries = append(entries, entry{text: "mean of the repeats' percentiles, 95% interval", line: &interval, capped: true})
		if s.log {
			entries = append(entries, entry{text: "logarithmic scale"})
		}
		p.X.Min = 0
		p.X.Max = math.Max(p.X.Max, 1)
		p.X.Tick.Marker = plot.ConstantTicks(nineTicks)
		s.set(&p.Y, l.plot, 40)
		return finish(p, l.width, 0, l.plot, entries)
	})
}

// addCurve with its whiskers, dodge to the side so that those of several curves stay apart.
func addCurve(p *plot.Plot, c Curve, s scale, dodge float64, line draw.LineStyle, glyph draw.GlyphStyle) error {
	var points []Point
	for _, q := range c.Points {
		points = append(points, Point{nines(q.X, c.Count), s.at(q.Y)})
	}
	if err := addLine(p, points, line); err != nil {
		return err
	}
	var marks plotter.XYs
	for _, q := range points {
		marks = append(marks, plotter.XY(q))
	}
	if len(marks) > 0 {
		p.Add(&plotter.Scatter{XYs: marks, GlyphStyle: glyph})
	}
	e := &plotter.YErrorBars{LineStyle: draw.LineStyle{Color: line.Color, Width: vg.Points(1)}, CapWidth: capWidth}
	for _, i := range c.Intervals {
		mean := s.at(i.Mean)
		e.XYs = append(e.XYs, plotter.XY{X: nines(i.Percent, c.Count) + dodge, Y: mean})
		e.YErrors = append(e.YErrors, struct{ Low, High float64 }{mean - s.at(i.Lower), s.at(i.Upper) - mean})
	}
	p.Add(unboxed{e})
	return nil
}

// nines is the place of a percent: 90% at 1, 99% at 2.
func nines(percent float64, count int64) float64 {
	last := math.Log10(math.Max(1, float64(count)))
	if percent >= 100 {
		return last
	}
	return -math.Log10(1 - percent/100)
}

var nineTicks = []plot.Tick{
	{Value: 0, Label: "0"}, {Value: 0.30103, Label: "50"}, {Value: 1, Label: "90"}, {Value: 2, Label: "99"},
	{Value: 3, Label: "99.9"}, {Value: 4, Label: "99.99"}, {Value: 5, Label: "99.999"},
}

// curveScale of the vertical axis.
func curveScale(curves []Curve) scale {
	var values, ends []float64
	for _, c := range curves {
		for _, q := range c.Points {
			values = append(values, q.Y)
		}
		for _, i := range c.Intervals {
			ends = append(ends, i.Lower, i.Upper)
		}
	}
	return scaleOf(values, ends, true)
}
