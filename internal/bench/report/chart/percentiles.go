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
// equally far apart. The vertical one is logarithmic where the values span more than ten times.
func Percentiles(title, text string, curves []Curve) (Chart, error) {
	if len(curves) > MostCurves {
		return Chart{}, fmt.Errorf("%d curves in one chart are more than %d", len(curves), MostCurves)
	}
	p := axes("percent of the transactions")
	values := valueRange(curves)
	vertical(p, values)
	p.Add(grid(true, true))
	var entries []entry
	for i, c := range curves {
		line := curveStyles[i].line
		line.Width = vg.Points(1.5)
		glyph := draw.GlyphStyle{Color: line.Color, Radius: vg.Points(3), Shape: curveStyles[i].glyph}
		if err := addCurve(p, c, values, line, glyph); err != nil {
			return Chart{}, err
		}
		entries = append(entries, entry{text: c.Name, line: &line, glyph: &glyph})
	}
	entries = append(entries, entry{text: "mean of the repeats' percentiles, 95% interval", line: &interval, capped: true})
	p.X.Min = 0
	p.X.Max = math.Max(p.X.Max, 1)
	p.X.Tick.Marker = plot.ConstantTicks(nineTicks)
	p.Y.Min, p.Y.Max = values.Lower, values.Upper
	return finish(title, text, p, width, plotHeight, entries)
}

func addCurve(p *plot.Plot, c Curve, values Range, line draw.LineStyle, glyph draw.GlyphStyle) error {
	var points []Point
	for _, q := range c.Points {
		points = append(points, Point{nines(q.X, c.Count), math.Max(q.Y, values.Lower)})
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
		mean := math.Max(i.Mean, values.Lower)
		e.XYs = append(e.XYs, plotter.XY{X: nines(i.Percent, c.Count), Y: mean})
		e.YErrors = append(e.YErrors, struct{ Low, High float64 }{mean - math.Max(i.Lower, values.Lower), math.Max(i.Upper, mean) - mean})
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

// spanOfLog is from how many times on the vertical axis is logarithmic.
const spanOfLog = 10

// valueRange of the vertical axis.
func valueRange(curves []Curve) Range {
	least, most := math.Inf(1), 0.0
	for _, c := range curves {
		for _, q := range c.Points {
			least, most = math.Min(least, q.Y), math.Max(most, q.Y)
		}
		for _, i := range c.Intervals {
			most = math.Max(most, i.Upper)
			if i.Lower > 0 {
				least = math.Min(least, i.Lower)
			}
		}
	}
	switch {
	case most == 0:
		return Range{0, 1}
	case least > 0 && most/least >= spanOfLog:
		return Range{least / 1.1, most * 1.1}
	}
	return Range{0, most * 1.05}
}

func vertical(p *plot.Plot, r Range) {
	p.Y.Min, p.Y.Max = r.Lower, r.Upper
	if r.Lower > 0 {
		p.Y.Scale = plot.LogScale{}
		p.Y.Tick.Marker = plot.ConstantTicks(logTicks(r))
	}
}

// logTicks at 1, 2 and 5 of each decade; of many decades at 1 only.
func logTicks(r Range) []plot.Tick {
	const fewDecades = 3
	var out []plot.Tick
	for decade := math.Floor(math.Log10(r.Lower)); decade <= math.Ceil(math.Log10(r.Upper)); decade++ {
		for _, step := range []float64{1, 2, 5} {
			tick := plot.Tick{Value: step * math.Pow(10, decade)}
			if tick.Value < r.Lower || tick.Value > r.Upper {
				continue
			}
			if step == 1 || math.Log10(r.Upper/r.Lower) <= fewDecades {
				tick.Label = label(tick.Value)
			}
			out = append(out, tick)
		}
	}
	return out
}
