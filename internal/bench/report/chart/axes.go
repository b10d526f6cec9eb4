package chart

import (
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// width of a chart, unless it needs more, in points.
const width = 320

// axes of a chart. What the vertical one is of stands in the title, where it is read
// without turning one's head.
func axes(horizontal string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color, axis.Tick.Color = faint, faint
		axis.Tick.Length = vg.Points(4)
		axis.Tick.Marker = plot.TickerFunc(ticks)
		style := axis.Tick.Label
		axis.Tick.Label = textStyle(smallSize, faint)
		axis.Tick.Label.XAlign, axis.Tick.Label.YAlign = style.XAlign, style.YAlign
		style = axis.Label.TextStyle
		axis.Label.TextStyle = textStyle(smallSize, faint)
		axis.Label.TextStyle.XAlign, axis.Label.TextStyle.YAlign = style.XAlign, style.YAlign
	}
	p.X.Label.Text = fit(horizontal, p.X.Label.TextStyle, width-60)
	return p
}

func hideY(p *plot.Plot) {
	p.HideY()
	p.Y.Padding = 0
}

// grid at the labels of the axes.
func grid(vertical, horizontal bool) *plotter.Grid {
	line := draw.LineStyle{Color: rule, Width: vg.Points(0.5)}
	g := &plotter.Grid{}
	if vertical {
		g.Vertical = line
	}
	if horizontal {
		g.Horizontal = line
	}
	return g
}

// ticks with labels that are not longer than they need to be.
func ticks(least, most float64) []plot.Tick {
	out := plot.DefaultTicks{}.Ticks(least, most)
	for i, tick := range out {
		if !tick.IsMinor() {
			out[i].Label = label(tick.Value)
		}
	}
	return out
}

func label(v float64) string {
	const longest = 7
	if text := strconv.FormatFloat(v, 'f', -1, 64); len(text) <= longest {
		return text
	}
	return Number(v)
}

// finish a chart: the plot, and the legend below it.
func finish(title, text string, p *plot.Plot, width, plotHeight vg.Length, entries []entry) (Chart, error) {
	below := legendHeight(entries)
	c := Chart{Title: title, Text: text, width: width, height: plotHeight + below}
	var err error
	c.body, err = drawn(c.width, c.height, func(canvas draw.Canvas) {
		p.Draw(draw.Crop(canvas, 2, -6, below, -4))
		legend(draw.Crop(canvas, 0, 0, 0, -plotHeight), entries)
	})
	return c, err
}
