//go:build linux

package zfs

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/pgstorage/pgstorage/test/bench/harness"
	"github.com/pgstorage/pgstorage/test/bench/zfs/cell"
)

// published has the figures of a write-up of a cloud volume on a host with one processor. It
// makes the same comparison, with the default and with the best properties; the document's
// table has all of it. Its shape matters, not its height.
var published = map[bool]struct{ other, ours float64 }{
	true:  {144.9, 191.4},
	false: {436.9, 952.8},
}

var publishedColour = color.RGBA{R: 0xd9, G: 0x8c, B: 0x21, A: 0xff}

// plotShape shows how many times faster ours is, beside what was published and
// the marks.
func (f figures) plotShape(path string) error {
	p := plot.New()
	p.Y.Label.Text = "TPS, best or ours / default"
	p.Y.Min = 0
	p.Legend.Top, p.Legend.Left = true, true
	var names []string
	measured, others := plotter.Values{}, plotter.Values{}
	for _, durable := range []bool{true, false} {
		first := len(names)
		least := 0.0
		for _, l := range f.lines {
			if l.Durable != durable {
				continue
			}
			names, least = append(names, fmt.Sprintf("%s, %d", l.Commit(), l.Clients)), l.leastRatio()
			measured, others = append(measured, l.ratio()), append(others, 0)
		}
		names = append(names, harness.Group{Durable: durable}.Commit())
		measured, others = append(measured, 0), append(others, published[durable].ours/published[durable].other)
		if err := addMark(p, first, len(names)-1, least); err != nil {
			return err
		}
	}
	for _, series := range []struct {
		name   string
		values plotter.Values
		colour color.Color
	}{{"measured here", measured, colours[cell.Ours]}, {"published, on a cloud volume", others, publishedColour}} {
		chart, err := plotter.NewBarChart(series.values, vg.Points(36))
		if err != nil {
			return err
		}
		chart.Color, chart.LineStyle.Width = series.colour, 0
		p.Add(chart)
		p.Legend.Add(series.name, chart)
	}
	p.NominalX(names...)
	p.X.Label.Text = "commit, clients; the dashed lines are the marks"
	return save(p, len(names), path)
}

// addMark draws what a group of bars must reach.
func addMark(p *plot.Plot, first, last int, least float64) error {
	mark, err := plotter.NewLine(plotter.XYs{{X: float64(first) - 0.45, Y: least}, {X: float64(last) + 0.45, Y: least}})
	if err != nil {
		return err
	}
	mark.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
	p.Add(mark)
	return nil
}
