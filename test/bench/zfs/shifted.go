//go:build linux

package zfs

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// shifted draws whiskers where their bars are: beside the number on the axis.
type shifted struct {
	*plotter.YErrorBars
	by vg.Length
}

// Plot implements plot.Plotter.
func (s shifted) Plot(c draw.Canvas, p *plot.Plot) {
	c.Push()
	defer c.Pop()
	c.Translate(vg.Point{X: s.by})
	s.YErrorBars.Plot(c, p)
}
