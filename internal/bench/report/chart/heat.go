package chart

import (
	"errors"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/brewer"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Grid of a heat map.
type Grid struct {
	ColumnAxis, RowAxis string
	Columns, Rows       []string
	// Cells by row and column.
	Cells [][]Cell
}

// Cell of a Grid: its Value, nil where there is none, and what is written in it.
type Cell struct {
	Value *float64
	Lines []string
}

const (
	// shades from light to dark have one hue, so that lightness alone shows the value.
	shades    = 7
	cellWidth = 78
	// rowRoom for the names of rows.
	rowRoom    = 84
	cellHeight = 44
)

var errNoCells = errors.New("a heat map without a value")

// HeatMap of a grid, the darkest being the highest.
func HeatMap(title, text string, g Grid) (Chart, error) {
	pal, err := brewer.GetPalette(brewer.TypeSequential, "Blues", shades)
	if err != nil {
		return Chart{}, err
	}
	h := plotter.NewHeatMap(cells(g), pal)
	if math.IsInf(h.Min, 0) {
		return Chart{}, errNoCells
	}
	if h.Max == h.Min {
		h.Max = h.Min + 1
	}
	h.NaN = rule
	p := axes(g.ColumnAxis)
	style := textStyle(smallSize, ink)
	p.NominalX(fitAll(g.Columns, style, cellWidth-4)...)
	p.NominalY(reversed(fitAll(g.Rows, style, rowRoom))...)
	p.X.Padding, p.Y.Padding = 2, 2
	p.X.Tick.Label.Color, p.Y.Tick.Label.Color = ink, ink
	p.Add(h, cellTexts{g, h, pal})
	w := max(vg.Length(width), rowRoom+20+vg.Length(len(g.Columns))*cellWidth)
	return finish(title, text, p, w, vg.Length(len(g.Rows))*cellHeight+48, []entry{
		{text: "rows: " + g.RowAxis + "; darker is higher"},
	})
}

func fitAll(texts []string, style draw.TextStyle, room vg.Length) []string {
	var out []string
	for _, t := range texts {
		out = append(out, fit(t, style, room))
	}
	return out
}

func reversed(texts []string) []string {
	var out []string
	for i := range texts {
		out = append(out, texts[len(texts)-1-i])
	}
	return out
}

// cells of a grid as plotter.GridXYZ, whose rows are counted from below.
type cells Grid

// Dims implements plotter.GridXYZ.
func (g cells) Dims() (columns, rows int) { return len(g.Columns), len(g.Rows) }

// X implements plotter.GridXYZ.
func (g cells) X(column int) float64 { return float64(column) }

// Y implements plotter.GridXYZ.
func (g cells) Y(row int) float64 { return float64(row) }

// Z implements plotter.GridXYZ.
func (g cells) Z(column, row int) float64 {
	if v := g.Cells[len(g.Rows)-1-row][column].Value; v != nil {
		return *v
	}
	return math.NaN()
}

// cellTexts are written on the cells.
type cellTexts struct {
	Grid
	heat    *plotter.HeatMap
	palette palette.Palette
}

// Plot implements plot.Plotter.
func (t cellTexts) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for row, line := range t.Cells {
		for column, cell := range line {
			for i, text := range cell.Lines {
				style := textStyle(smallSize, t.textColour(cell))
				style.XAlign = draw.XCenter
				at := vg.Point{X: x(float64(column)), Y: y(float64(len(t.Rows)-1-row)) - smallSize/3}
				at.Y += (vg.Length(len(cell.Lines)-1)/2 - vg.Length(i)) * (smallSize + 2)
				c.FillText(style, at, fit(text, style, cellWidth-2))
			}
		}
	}
}

// textColour that stands out from the cell.
func (t cellTexts) textColour(cell Cell) colour {
	if cell.Value == nil {
		return ink
	}
	colours := t.palette.Colors()
	shade := colours[int((*cell.Value-t.heat.Min)*float64(len(colours)-1)/(t.heat.Max-t.heat.Min)+0.5)]
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
