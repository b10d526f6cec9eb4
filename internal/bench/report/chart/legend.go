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
	legendLine = 18
	sample     = 26
	// sampleGap is between a sample and its text, entryGap between two entries.
	sampleGap, entryGap = 6, 22
)

// place of an entry in its legend.
type place struct {
	left, room vg.Length
	row        int
}

// places of entries side by side, in as many rows as they need.
func places(entries []entry, width vg.Length) []place {
	style := textStyle(smallSize, ink)
	var out []place
	left, row := vg.Length(2), 0
	for _, e := range entries {
		takes := widthOf(e.text, style)
		if e.line != nil || e.glyph != nil {
			takes += sample + sampleGap
		}
		if left > 2 && left+takes > width {
			left, row = 2, row+1
		}
		out = append(out, place{left, width - left, row})
		left += takes + entryGap
	}
	return out
}

func legendHeight(entries []entry, width vg.Length) vg.Length {
	if len(entries) == 0 {
		return 0
	}
	return vg.Length(places(entries, width)[len(entries)-1].row+1)*legendLine + 2
}

// legend of the entries.
func legend(c draw.Canvas, entries []entry) {
	style := textStyle(smallSize, ink)
	for i, at := range places(entries, c.Max.X-c.Min.X) {
		e := entries[i]
		y := c.Max.Y - 2 - vg.Length(at.row)*legendLine - legendLine/2
		left := c.Min.X + at.left
		from, room := left, at.room
		if e.line != nil || e.glyph != nil {
			e.draw(c, left, y)
			from, room = left+sample+sampleGap, room-sample-sampleGap
		}
		c.FillText(style, vg.Point{X: from, Y: y - smallSize/3}, fit(e.text, style, room))
	}
}

// draw the sample of an entry.
func (e entry) draw(c draw.Canvas, left, y vg.Length) {
	right := left + sample
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
}
