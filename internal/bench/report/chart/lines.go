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

// Line over time, of one repeat.
type Line struct {
	Name   string
	Points []Point
	// Rejected says that it does not count.
	Rejected bool
	// Events that disturbed it, oldest first.
	Events []Event
}

// Event during a line, from one time to another. Tag is short, and Name says what it is.
type Event struct {
	From, To  float64
	Tag, Name string
}

const (
	// mostPoints of a line: more than one for each point of the chart's width is
	// not seen. Of many lines each has fewer, down to fewestPoints, so that a chart
	// stays below chartPoints.
	mostPoints, fewestPoints, chartPoints = 400, 60, 2400
	// lowest and highest share of a strip that its values take. The name and the labels of
	// events are above them, those of events in two rows.
	lowest, highest = 0.04, 0.58
	nameAt          = 0.86
)

// Lines over time.
var (
	countedLine  = draw.LineStyle{Color: blue, Width: vg.Points(1.25)}
	rejectedLine = draw.LineStyle{Color: orange, Width: vg.Points(1.25), Dashes: []vg.Length{4, 3}}
	bandEdge     = draw.LineStyle{Color: orange, Width: vg.Points(0.5)}
	momentLine   = draw.LineStyle{Color: ink, Width: vg.Points(1), Dashes: []vg.Length{2, 2}}
)

// OverTime shows the repeats of one variant over seconds, each in a strip of its own on one
// scale. It draws the least and the most of neighbours where a line has many points, so that a
// stall of a second stays visible. Events are shaded, and those without a duration dashed.
func OverTime(title, text string, axis Axis, lines []Line) (Chart, error) {
	var values []float64
	seconds := Range{0, 1}
	for _, l := range lines {
		for _, q := range l.Points {
			values = append(values, q.Y)
			seconds.Upper = math.Max(seconds.Upper, q.X)
		}
	}
	if err := finite(append(values, seconds.Upper)); err != nil {
		return Chart{}, err
	}
	return both(title, text, func(l layout) (drawing, error) {
		p := axes("seconds since the run began", l.width)
		s := strips{lines, scaleOf(values, nil, axis.Logarithmic)}
		p.X.Min, p.X.Max = 0, seconds.Upper
		p.X.Tick.Marker = plot.ConstantTicks(linearTicks(seconds, int(l.width/l.tick)))
		p.Y.Min, p.Y.Max = -math.Max(1, float64(len(lines))), 0
		p.Y.Tick.Marker = plot.ConstantTicks(s.ticks())
		p.Y.Padding, p.X.Padding = 0, 0
		p.Add(bands{s}, grid(false, true))
		room := max(fewestPoints, min(mostPoints, chartPoints/max(1, len(lines))))
		for i, line := range lines {
			style := countedLine
			if line.Rejected {
				style = rejectedLine
			}
			if err := addLine(p, s.placed(i, thin(line.Points, room)), style); err != nil {
				return drawing{}, err
			}
		}
		p.Add(labels{s})
		return finish(p, l.width, 0, vg.Length(max(1, len(lines)))*l.strip+44, s.entries(axis.Label))
	})
}

// strips of lines, the first at the top. Each is 1 high on the vertical axis.
type strips struct {
	lines []Line
	scale
}

// y is the place of a value in a strip.
func (s strips) y(strip int, v float64) float64 {
	share := (s.at(v) - s.Lower) / (s.Upper - s.Lower)
	if s.log {
		share = math.Log(s.at(v)/s.Lower) / math.Log(s.Upper/s.Lower)
	}
	return s.base(strip) + lowest + share*(highest-lowest)
}

func (s strips) base(strip int) float64 { return -float64(strip + 1) }

func (s strips) placed(strip int, points []Point) []Point {
	out := make([]Point, len(points))
	for i, q := range points {
		out[i] = Point{q.X, s.y(strip, q.Y)}
	}
	return out
}

// ticks of every strip: few, because a strip is low.
func (s strips) ticks() []plot.Tick {
	const few = 3
	of := linearTicks(s.Range, few)
	if s.log {
		of = wholeDecades(s.Range)
	}
	var out []plot.Tick
	for i := range s.lines {
		for _, t := range of {
			out = append(out, plot.Tick{Value: s.y(i, t.Value), Label: t.Label})
		}
	}
	return out
}

// wholeDecades of an axis, every second one if there are many.
func wholeDecades(r Range) []plot.Tick {
	const many = 4
	first, last := math.Ceil(math.Log10(r.Lower)), math.Floor(math.Log10(r.Upper))
	step := 1.0
	if last-first >= many {
		step = 2
	}
	var out []plot.Tick
	for decade := first; decade <= last; decade += step {
		v := math.Pow(10, decade)
		out = append(out, plot.Tick{Value: v, Label: label(v)})
	}
	return out
}

func (s strips) entries(unit string) []entry {
	counted, rejected, intervals, moments := 0, 0, 0, 0
	for _, l := range s.lines {
		if l.Rejected {
			rejected++
		} else {
			counted++
		}
		for _, e := range l.Events {
			if e.To > e.From {
				intervals++
			} else {
				moments++
			}
		}
	}
	var entries []entry
	for _, e := range []struct {
		n int
		entry
	}{
		{counted, entry{text: fmt.Sprintf("%s, %d counted repeat(s)", unit, counted), line: &countedLine}},
		{rejected, entry{text: fmt.Sprintf("%s, %d excluded repeat(s)", unit, rejected), line: &rejectedLine}},
		{intervals, entry{text: "disturbance", line: &draw.LineStyle{Color: band, Width: barWidth}}},
		{moments, entry{text: "change", line: &momentLine}},
	} {
		if e.n > 0 {
			entries = append(entries, e.entry)
		}
	}
	if s.log {
		entries = append(entries, entry{text: "logarithmic scale"})
	}
	return entries
}

// edge at which the event begins.
func (e Event) edge() draw.LineStyle {
	if e.To > e.From {
		return bandEdge
	}
	return momentLine
}

// bands behind the lines.
type bands struct{ strips }

// Plot implements plot.Plotter.
func (b bands) Plot(c draw.Canvas, p *plot.Plot) {
	const thinnest = 2
	x, y := p.Transforms(&c)
	for i, l := range b.lines {
		bottom, top := y(b.base(i)), y(b.base(i)+nameAt)
		for _, e := range l.Events {
			if e.To <= e.From {
				continue
			}
			left, right := x(e.From), min(c.Max.X, max(x(e.To), x(e.From)+thinnest))
			c.FillPolygon(band, []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}})
		}
		for _, e := range l.Events {
			c.StrokeLine2(e.edge(), x(e.From), bottom, x(e.From), top)
			if e.To > e.From {
				c.StrokeLine2(bandEdge, min(c.Max.X, x(e.To)), bottom, min(c.Max.X, x(e.To)), top)
			}
		}
		c.StrokeLine2(draw.LineStyle{Color: rule, Width: vg.Points(1)}, c.Min.X, y(b.base(i)), c.Max.X, y(b.base(i)))
	}
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
