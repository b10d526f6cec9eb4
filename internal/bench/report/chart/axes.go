package chart

import (
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// axes of a chart. What the vertical one is of stands in the title, where it is read
// without turning one's head.
func axes(horizontal string, width vg.Length) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color, axis.Tick.Color = faint, faint
		axis.Tick.Length = vg.Points(4)
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

// label that is not longer than it needs to be.
func label(v float64) string {
	const longest, digits = 7, 12
	// Multiples of a step are not exact in binary.
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if text := strconv.FormatFloat(v, 'f', -1, 64); len(text) <= longest {
		return text
	}
	return Number(v)
}
