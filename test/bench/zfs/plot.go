//go:build linux

package zfs

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/test/bench/zfs/cell"
)

// colours of the bars, which also differ in grey.
var colours = map[string]color.Color{
	cell.Default: color.RGBA{R: 0xb0, G: 0xb7, B: 0xbf, A: 0xff},
	cell.Ours:    color.RGBA{R: 0x1f, G: 0x5f, B: 0xa8, A: 0xff},
}

// plots are what docs/benchmarks shows.
func (f figures) plots(folder string) error {
	return errors.Join(
		f.plot(filepath.Join(folder, "zfs.svg"), "transactions per second", func(s side) statistics.Summary { return s.tps }),
		f.plot(filepath.Join(folder, "zfs-bytes.svg"), "kB written per transaction", func(s side) statistics.Summary {
			return statistics.Summary{Median: s.bytes.Median / 1e3, Min: s.bytes.Min / 1e3, Max: s.bytes.Max / 1e3}
		}),
		f.plotShape(filepath.Join(folder, "zfs-shape.svg")),
	)
}

// bars of one configuration, with their spread.
type bars struct {
	plotter.XYs
	plotter.YErrors
}

// plot a pair of bars for each line of the table.
func (f figures) plot(path, title string, of func(side) statistics.Summary) error {
	p := plot.New()
	p.Y.Label.Text = title
	p.Y.Min = 0
	p.Legend.Top = true
	var names []string
	for _, l := range f.lines {
		names = append(names, fmt.Sprintf("%s, %d", l.Commit(), l.Clients))
	}
	p.NominalX(names...)
	p.X.Label.Text = "commit, clients; the whiskers are the least and the most of the rounds"
	const width = 26
	for i, name := range []string{cell.Default, cell.Ours} {
		if err := f.addBars(p, name, vg.Points(width), vg.Points(float64(2*i-1)*width/2), of); err != nil {
			return err
		}
	}
	return save(p, len(names), path)
}

// save with space for the outer bars, and above the highest for the legend.
func save(p *plot.Plot, columns int, path string) error {
	p.X.Min, p.X.Max = -0.6, float64(columns)-0.4
	p.Y.Max = math.Ceil(p.Y.Max * 1.25)
	p.Legend.Padding = vg.Points(2)
	p.Y.Tick.Marker = plot.TickerFunc(ticks)
	return p.Save(8*vg.Inch, 4*vg.Inch, path)
}

// ticks without decimals that say nothing.
func ticks(least, most float64) []plot.Tick {
	out := plot.DefaultTicks{}.Ticks(least, most)
	for i, tick := range out {
		if !tick.IsMinor() {
			out[i].Label = strconv.FormatFloat(tick.Value, 'g', 4, 64)
		}
	}
	return out
}

func (f figures) addBars(p *plot.Plot, name string, width, offset vg.Length, of func(side) statistics.Summary) error {
	var values plotter.Values
	spread := bars{}
	for i, l := range f.lines {
		s := l.ours
		if name == cell.Default {
			s = l.other
		}
		v := of(s)
		values = append(values, v.Median)
		spread.XYs = append(spread.XYs, plotter.XY{X: float64(i), Y: v.Median})
		spread.YErrors = append(spread.YErrors, struct{ Low, High float64 }{v.Median - v.Min, v.Max - v.Median})
	}
	chart, err := plotter.NewBarChart(values, width)
	if err != nil {
		return err
	}
	chart.Offset, chart.Color, chart.LineStyle.Width = offset, colours[name], 0
	whiskers, err := plotter.NewYErrorBars(spread)
	if err != nil {
		return err
	}
	p.Add(chart, shifted{whiskers, offset})
	p.Legend.Add(name, chart)
	return nil
}
