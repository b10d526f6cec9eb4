package chart

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Point of a line.
type Point struct{ X, Y float64 }

// Line over time.
type Line struct {
	Points []Point
	// Rejected says that it does not count.
	Rejected bool
	// Changes are the times at which its level changes.
	Changes []float64
}

const (
	plotHeight = 190
	// mostPoints of a line: more than one for each point of the chart's width is
	// not seen. Of many lines each has fewer, down to fewestPoints, so that a chart
	// stays below chartPoints.
	mostPoints, fewestPoints, chartPoints = 300, 60, 2400
)

// Lines over time.
var (
	countedLine  = draw.LineStyle{Color: blue, Width: vg.Points(1)}
	rejectedLine = draw.LineStyle{Color: orange, Width: vg.Points(1), Dashes: []vg.Length{4, 3}}
	changeLine   = draw.LineStyle{Color: ink, Width: vg.Points(1), Dashes: []vg.Length{1, 3}}
)

// OverTime shows the repeats of one variant over seconds, from zero on. It draws the least and
// the most of neighbours where a line has many points, so that a stall of a second stays
// visible.
func OverTime(title, text, unit string, lines []Line) (Chart, error) {
	p := axes("seconds")
	p.Add(grid(false, true))
	most := 0.0
	var changes verticals
	counted, rejected := 0, 0
	room := max(fewestPoints, min(mostPoints, chartPoints/max(1, len(lines))))
	for _, l := range lines {
		style := countedLine
		if l.Rejected {
			style, rejected = rejectedLine, rejected+1
		} else {
			counted++
		}
		if err := addLine(p, thin(l.Points, room), style); err != nil {
			return Chart{}, err
		}
		for _, q := range l.Points {
			most = math.Max(most, q.Y)
		}
		changes = append(changes, l.Changes...)
	}
	p.Add(changes)
	p.Y.Min, p.Y.Max = 0, most*1.05
	if most == 0 {
		p.Y.Max = 1
	}
	p.X.Min = math.Min(0, p.X.Min)
	p.X.Max = math.Max(p.X.Max, p.X.Min+1)
	var entries []entry
	for _, e := range []struct {
		n int
		entry
	}{
		{counted, entry{text: fmt.Sprintf("%s, %d counted repeat(s)", unit, counted), line: &countedLine}},
		{rejected, entry{text: fmt.Sprintf("%s, %d excluded repeat(s)", unit, rejected), line: &rejectedLine}},
		{len(changes), entry{text: "level change", line: &changeLine}},
	} {
		if e.n > 0 {
			entries = append(entries, e.entry)
		}
	}
	return finish(title, text, p, width, plotHeight, entries)
}

func addLine(p *plot.Plot, points []Point, style draw.LineStyle) error {
	if len(points) == 0 {
		return nil
	}
	var xys plotter.XYs
	for _, q := range points {
		xys = append(xys, plotter.XY(q))
	}
	l, err := plotter.NewLine(xys)
	if err != nil {
		return err
	}
	l.LineStyle = style
	p.Add(l)
	return nil
}

// thin out points so that the extremes of each group of neighbours stay.
func thin(points []Point, most int) []Point {
	if len(points) <= most {
		return points
	}
	group := (2*len(points) + most - 1) / most
	var kept []Point
	for from := 0; from < len(points); from += group {
		part := points[from:min(from+group, len(points))]
		low, high := 0, 0
		for i, q := range part {
			if q.Y < part[low].Y {
				low = i
			}
			if q.Y > part[high].Y {
				high = i
			}
		}
		kept = append(kept, part[min(low, high)])
		if low != high {
			kept = append(kept, part[max(low, high)])
		}
	}
	return kept
}

// verticals are lines at times.
type verticals []float64

// Plot implements plot.Plotter.
func (v verticals) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	for _, at := range v {
		c.StrokeLine2(changeLine, x(at), c.Min.Y, x(at), c.Max.Y)
	}
}
