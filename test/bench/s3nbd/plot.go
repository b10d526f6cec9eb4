//go:build linux

package s3nbd

import (
	"errors"
	"image/color"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// colours of the lines, which also differ in grey.
var colours = map[string]color.Color{
	Undelayed: color.RGBA{R: 0xb0, G: 0xb7, B: 0xbf, A: 0xff},
	Durable:   color.RGBA{R: 0x1f, G: 0x5f, B: 0xa8, A: 0xff},
	Relaxed:   color.RGBA{R: 0xd9, G: 0x8c, B: 0x21, A: 0xff},
}

// plots are what docs/benchmarks shows.
func (f figures) plots(folder string) error {
	return errors.Join(f.plotClients(filepath.Join(folder, "s3nbd.svg")), f.plotDelays(filepath.Join(folder, "s3nbd-delay.svg")))
}

// points with their spread.
type points struct {
	plotter.XYs
	plotter.YErrors
}

func (p *points) add(x float64, s statistics.Summary) {
	p.XYs = append(p.XYs, plotter.XY{X: x, Y: s.Median})
	p.YErrors = append(p.YErrors, struct{ Low, High float64 }{s.Median - s.Min, s.Max - s.Median})
}

// plotClients has TPS by the number of clients.
func (f figures) plotClients(path string) error {
	p := plot.New()
	p.Y.Label.Text = "transactions per second"
	p.X.Label.Text = "clients; the whiskers are the least and the most of the rounds"
	p.Y.Min = 0
	p.Legend.Top, p.Legend.Left = true, true
	p.X.Scale = plot.LogScale{}
	var ticks []plot.Tick
	for _, name := range []string{Undelayed, Durable, Relaxed} {
		var all points
		for _, l := range f.lines {
			if l.configuration != name {
				continue
			}
			all.add(float64(l.clients), l.tps)
			ticks = append(ticks, plot.Tick{Value: float64(l.clients), Label: strconv.Itoa(l.clients)})
		}
		if err := add(p, name, colours[name], all); err != nil {
			return err
		}
	}
	slices.SortFunc(ticks, func(a, b plot.Tick) int { return int(a.Value - b.Value) })
	ticks = slices.Compact(ticks)
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	p.X.Min, p.X.Max = ticks[0].Value*0.9, ticks[len(ticks)-1].Value*1.1
	return p.Save(8*vg.Inch, 4*vg.Inch, path)
}

// plotDelays has durable TPS by commit_delay.
func (f figures) plotDelays(path string) error {
	p := plot.New()
	p.Y.Label.Text = "transactions per second"
	p.X.Label.Text = "commit_delay, ms, with " + strconv.Itoa(delayed) + " clients"
	p.Y.Min = 0
	p.Legend.Top = true
	var all, derived points
	for _, l := range f.delays() {
		if l.delay > 0 && l.siblings != f.derived {
			continue
		}
		all.add(float64(l.delay)/1e3, l.tps)
		if l.configuration == Durable {
			derived.add(float64(l.delay)/1e3, l.tps)
		}
	}
	if err := add(p, "tried", colours[Undelayed], all); err != nil {
		return err
	}
	if err := add(p, "derived", colours[Durable], derived); err != nil {
		return err
	}
	return p.Save(8*vg.Inch, 4*vg.Inch, path)
}

func add(p *plot.Plot, name string, colour color.Color, all points) error {
	if len(all.XYs) == 0 {
		return nil
	}
	l, dots, err := plotter.NewLinePoints(all.XYs)
	if err != nil {
		return err
	}
	whiskers, err := plotter.NewYErrorBars(all)
	if err != nil {
		return err
	}
	l.Color, dots.Color, whiskers.Color = colour, colour, colour
	l.Width = vg.Points(1.5)
	dots.Shape = draw.CircleGlyph{}
	p.Add(l, dots, whiskers)
	p.Legend.Add(name, l, dots)
	return nil
}
