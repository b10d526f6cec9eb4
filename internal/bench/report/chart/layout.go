package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// layout of a drawing. Each chart is drawn twice, because text that is readable on a desk
// shrinks below what is readable on a telephone.
type layout struct {
	width vg.Length
	// gutter to the left of rows for their names, at least; without one the names are above
	// the marks.
	gutter vg.Length
	// plot is the height of a plot with two axes, and strip that of one repeat over time.
	plot, strip vg.Length
	// tick is the least distance between the labels of an axis.
	tick vg.Length
}

var (
	wide   = layout{width: 900, gutter: 120, plot: 300, strip: 100, tick: 80}
	narrow = layout{width: 340, plot: 220, strip: 92, tick: 48}
)

// drawing of a chart in one layout.
type drawing struct {
	width, height vg.Length
	body          string
}

// both layouts of a chart.
func both(title, text string, paint func(layout) (drawing, error)) (Chart, error) {
	c := Chart{Title: title, Text: text}
	var err error
	if c.wide, err = paint(wide); err != nil {
		return Chart{}, err
	}
	c.narrow, err = paint(narrow)
	return c, err
}

// finish a drawing: the plot, and the legend below it.
func finish(p *plot.Plot, width, gutter, plotHeight vg.Length, entries []entry) (drawing, error) {
	below := legendHeight(entries, width)
	d := drawing{width: width, height: plotHeight + below}
	var err error
	d.body, err = drawn(d.width, d.height, func(canvas draw.Canvas) {
		p.Draw(draw.Crop(canvas, gutter+6, -14, below, -4))
		legend(draw.Crop(canvas, 0, 0, 0, -plotHeight), entries)
	})
	return d, err
}

// decadesOfLog is how many decades the values of a latency span before its axis becomes
// logarithmic.
const decadesOfLog = 2

// scale of an axis: its ends, and whether it is logarithmic.
type scale struct {
	Range
	log bool
}

// scaleOf an axis. It begins at zero, so that lengths are ratios. If logarithmic is allowed and
// the values span 2 decades or more, it is logarithmic. It then leaves out ends that are a decade
// or more below the least value.
func scaleOf(values, ends []float64, logarithmic bool) scale {
	least, most, below := math.Inf(1), 0.0, 0.0
	for _, v := range values {
		below, most = math.Min(below, v), math.Max(most, v)
		if v > 0 {
			least = math.Min(least, v)
		}
	}
	log := logarithmic && below == 0 && most > 0 && math.Log10(most/least) >= decadesOfLog
	floor := least / 10
	for _, v := range ends {
		below, most = math.Min(below, v), math.Max(most, v)
		if v >= floor {
			least = math.Min(least, v)
		}
	}
	switch {
	case log:
		return scale{Range{least / 1.2, most * 1.2}, true}
	case most == below:
		return scale{Range{below, below + 1}, false}
	}
	return scale{Range{below, most + (most-below)/20}, false}
}

// at is the value, or the end of the axis if the value is beyond it.
func (s scale) at(v float64) float64 { return math.Max(s.Lower, math.Min(v, s.Upper)) }

// set the scale of an axis that is so long.
func (s scale) set(axis *plot.Axis, length, tick vg.Length) {
	axis.Min, axis.Max = s.Lower, s.Upper
	if s.log {
		axis.Scale = plot.LogScale{}
		axis.Tick.Marker = plot.ConstantTicks(logTicks(s.Range))
		return
	}
	axis.Tick.Marker = plot.ConstantTicks(linearTicks(s.Range, max(2, int(length/tick))))
}

// linearTicks at multiples of 1, 2 or 5 of a power of ten, at most so many.
func linearTicks(r Range, most int) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10((r.Upper-r.Lower)/float64(most))))
	for _, factor := range []float64{1, 2, 5, 10} {
		if (r.Upper-r.Lower)/(step*factor) <= float64(most) {
			step *= factor
			break
		}
	}
	var out []plot.Tick
	for n := int(math.Ceil(r.Lower/step - 1e-9)); float64(n)*step <= r.Upper*(1+1e-12); n++ {
		out = append(out, plot.Tick{Value: float64(n) * step, Label: label(float64(n) * step)})
	}
	return out
}

// logTicks at 1, 2 and 5 of each decade. Over more than 3 decades only 1 has a label.
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
