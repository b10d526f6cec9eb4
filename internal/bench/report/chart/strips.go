package chart

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// labels of the strips and of their events.
type labels struct{ strips }

// Plot implements plot.Plotter.
func (n labels) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	name, small := textStyle(textSize, ink), textStyle(smallSize, ink)
	for i, l := range n.lines {
		c.FillText(name, vg.Point{X: c.Min.X + 2, Y: y(n.base(i)+nameAt) + 1}, fit(l.Name, name, c.Max.X-c.Min.X-2))
		rows := placedLabels{until: c.Max.X}
		for _, lasting := range []bool{true, false} {
			for _, e := range l.Events {
				if (e.To > e.From) == lasting {
					rows.place(x(e.From)+2, small, e.Tag+" "+e.Name, e.Tag)
				}
			}
		}
		for _, placed := range rows.taken {
			c.FillText(small, vg.Point{X: placed.left, Y: y(n.base(i) + labelRows[placed.row])}, placed.text)
		}
	}
}

// labelRows are the places of two rows of labels in a strip.
var labelRows = [2]float64{0.74, 0.61}

// placedLabels are in rows so that none covers another. A label for which there is no room is
// left out; the table beside the chart has every event.
type placedLabels struct {
	until vg.Length
	taken []placedLabel
}

type placedLabel struct {
	left, right vg.Length
	row         int
	text        string
}

// place the first of the texts that fits in a row.
func (l *placedLabels) place(left vg.Length, style draw.TextStyle, texts ...string) {
	for _, text := range texts {
		for row := range labelRows {
			p := placedLabel{left, left + widthOf(text, style), row, text}
			if l.free(p) {
				l.taken = append(l.taken, p)
				return
			}
		}
	}
}

func (l *placedLabels) free(p placedLabel) bool {
	const gap = 4
	return p.right <= l.until && !slices.ContainsFunc(l.taken, func(o placedLabel) bool {
		return o.row == p.row && p.left < o.right+gap && o.left < p.right+gap
	})
}
