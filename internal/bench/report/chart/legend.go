package chart

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// entry of a legend: a sample of what is drawn, and what it is.
type entry struct {
	text  string
	line  *draw.LineStyle
	glyph *draw.GlyphStyle
	// capped at both ends, as an interval.
	capped bool
}

const (
	legendLine = 16
	sample     = 26
)

func legendHeight(entries []entry) vg.Length { return vg.Length(len(entries)) * legendLine }

// legend one entry below the other.
func legend(c draw.Canvas, entries []entry) {
	style := textStyle(smallSize, ink)
	for i, e := range entries {
		y := c.Max.Y - vg.Length(i)*legendLine - legendLine/2
		left, right := c.Min.X+2, c.Min.X+2+sample
		if e.line != nil {
			c.StrokeLine2(*e.line, left, y, right, y)
		}
		if e.capped {
			c.StrokeLine2(*e.line, left, y-capWidth/2, left, y+capWidth/2)
			c.StrokeLine2(*e.line, right, y-capWidth/2, right, y+capWidth/2)
		}
		if e.glyph != nil {
			c.DrawGlyphNoClip(*e.glyph, vg.Point{X: (left + right) / 2, Y: y})
		}
		from := right + 6
		if e.line == nil && e.glyph == nil {
			from = left
		}
		c.FillText(style, vg.Point{X: from, Y: y - smallSize/3}, fit(e.text, style, c.Max.X-from))
	}
}
