package chart

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/palette/brewer"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Grid of a heat map.
type Grid struct {
	ColumnAxis, RowAxis string
	Columns, Rows       []string
	// Cells by row and column.
	Cells [][]Cell
	// LowerIsBetter, as of a latency.
	LowerIsBetter bool
}

// Cell of a Grid: its Value, nil where there is none, and what is written in it.
type Cell struct {
	Value *float64
	Lines []string
}

const (
	// shades from worse to better; the middle one is the median.
	shades = 9
	// leastSpan from the median that has the strongest colour: less would show noise as if it
	// mattered.
	leastSpan = 1.1
	// narrowestCell holds an interval, and no cell needs more than widestCell.
	narrowestCell, widestCell = 76, 150
	cellHeight                = 50
	headHeight                = 40
)

var errNoCells = errors.New("a heat map without a value")

// HeatMap of a grid. A colour shows the ratio of a value to the median of all. Blue is better, red
// is worse, and white is the median.
func HeatMap(title, text string, g Grid) (Chart, error) {
	pal, err := brewer.GetPalette(brewer.TypeDiverging, "RdBu", shades)
	if err != nil {
		return Chart{}, err
	}
	h := heat{Grid: g, shades: pal.Colors()}
	if err := h.span(); err != nil {
		return Chart{}, err
	}
	return both(title, text, h.paint)
}

// heat map of a grid, coloured around the median of its values.
type heat struct {
	Grid
	shades []color.Color
	median float64
	// most is the ratio to the median that has the strongest colour.
	most float64
}

// span of the values.
func (h *heat) span() error {
	var values []float64
	for _, row := range h.Cells {
		for _, c := range row {
			if c.Value != nil {
				values = append(values, *c.Value)
			}
		}
	}
	if len(values) == 0 {
		return errNoCells
	}
	if err := finite(values); err != nil {
		return err
	}
	slices.Sort(values)
	h.median = (values[(len(values)-1)/2] + values[len(values)/2]) / 2
	h.most = leastSpan
	for _, v := range values {
		if v > 0 && h.median > 0 {
			h.most = math.Max(h.most, math.Max(v/h.median, h.median/v))
		}
	}
	return nil
}

// shade of a value: 0 is the worst, the middle one the median.
func (h *heat) shade(v float64) int {
	share := 0.0
	if v > 0 && h.median > 0 {
		share = math.Log(v/h.median) / math.Log(h.most)
	}
	if h.LowerIsBetter {
		share = -share
	}
	const middle = (shades - 1) / 2
	return int(math.Round((1 + share) * middle))
}

func (h *heat) paint(l layout) (drawing, error) {
	rowRoom := vg.Length(0)
	for _, name := range append([]string{h.RowAxis}, h.Rows...) {
		rowRoom = max(rowRoom, widthOf(name, textStyle(smallSize, ink))+namesGap)
	}
	rowRoom = min(rowRoom, l.width/4)
	columns := vg.Length(len(h.Columns))
	cell := max(narrowestCell, min(widestCell, (l.width-rowRoom)/max(1, columns)))
	d := drawing{width: max(l.width, rowRoom+columns*cell), height: headHeight + vg.Length(len(h.Rows))*cellHeight + 2*legendLine + 8}
	var err error
	d.body, err = drawn(d.width, d.height, func(c draw.Canvas) {
		h.heads(c, rowRoom, cell)
		for row, line := range h.Cells {
			top := c.Max.Y - headHeight - vg.Length(row)*cellHeight
			for column, content := range line {
				h.cell(c, vg.Point{X: c.Min.X + rowRoom + vg.Length(column)*cell, Y: top}, cell, content)
			}
		}
		h.legend(c)
	})
	return d, err
}

// heads of columns and rows.
func (h *heat) heads(c draw.Canvas, rowRoom, cell vg.Length) {
	name, axis := textStyle(smallSize, ink), textStyle(smallSize, faint)
	c.FillText(axis, vg.Point{X: c.Min.X + 2, Y: c.Max.Y - headHeight + 6}, fit(h.RowAxis, axis, rowRoom-8))
	c.FillText(axis, vg.Point{X: c.Min.X + rowRoom, Y: c.Max.Y - smallSize - 2}, fit(h.ColumnAxis, axis, cell*vg.Length(max(1, len(h.Columns)))))
	for i, text := range h.Rows {
		y := c.Max.Y - headHeight - (vg.Length(i)+0.5)*cellHeight - smallSize/3
		c.FillText(name, vg.Point{X: c.Min.X + 2, Y: y}, fit(text, name, rowRoom-8))
	}
	name.XAlign = draw.XCenter
	for i, text := range h.Columns {
		c.FillText(name, vg.Point{X: c.Min.X + rowRoom + (vg.Length(i)+0.5)*cell, Y: c.Max.Y - headHeight + 6}, fit(text, name, cell-6))
	}
}

// cell at its upper left corner.
func (h *heat) cell(c draw.Canvas, at vg.Point, width vg.Length, content Cell) {
	corners := []vg.Point{at, {X: at.X + width, Y: at.Y}, {X: at.X + width, Y: at.Y - cellHeight}, {X: at.X, Y: at.Y - cellHeight}}
	text := ink
	if content.Value != nil {
		shade := h.shades[h.shade(*content.Value)]
		c.FillPolygon(shade, corners)
		text = textOn(shade)
	}
	c.StrokeLines(draw.LineStyle{Color: rule, Width: vg.Points(1)}, append(corners, at))
	style := textStyle(smallSize, text)
	style.XAlign = draw.XCenter
	for i, line := range content.Lines {
		y := at.Y - cellHeight/2 - smallSize/3 + (vg.Length(len(content.Lines)-1)/2-vg.Length(i))*(smallSize+2)
		c.FillText(style, vg.Point{X: at.X + width/2, Y: y}, fit(line, style, width-4))
	}
}

// legend of the colours, from worse to better.
func (h *heat) legend(c draw.Canvas) {
	const swatch = 16
	style := textStyle(smallSize, ink)
	first, second := c.Min.Y+legendLine+6, c.Min.Y+6
	left := c.Min.X + 2
	c.FillText(style, vg.Point{X: left, Y: first}, "worse")
	left += widthOf("worse", style) + sampleGap
	for _, s := range h.shades {
		bottom := first - 3
		c.FillPolygon(s, []vg.Point{{X: left, Y: bottom}, {X: left + swatch, Y: bottom}, {X: left + swatch, Y: bottom + 13}, {X: left, Y: bottom + 13}})
		left += swatch
	}
	c.FillText(style, vg.Point{X: left + sampleGap, Y: first}, "better")
	text := fmt.Sprintf("white: the median, %s; strongest: %s times it or 1/%s", Number(h.median), Number(h.most), Number(h.most))
	c.FillText(style, vg.Point{X: c.Min.X + 2, Y: second}, fit(text, style, c.Max.X-c.Min.X))
}

// textOn is the colour of text that stands out from a shade.
func textOn(shade color.Color) colour {
	if r, g, b, _ := shade.RGBA(); luminance(r>>8, g>>8, b>>8) < middle {
		return onDark
	}
	return onLight
}

// middle is the luminance from which black and white stand out alike.
const middle = 0.179

// luminance of a colour in sRGB (https://www.w3.org/TR/WCAG22/#dfn-relative-luminance).
func luminance(r, g, b uint32) float64 {
	linear := func(v uint32) float64 {
		const opaque, knee = 255, 0.04045
		s := float64(v) / opaque
		if s <= knee {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}
