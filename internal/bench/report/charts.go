package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/internal/bench/histogram"
	"github.com/pgstorage/pgstorage/internal/bench/report/chart"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// figure that is charted for each variant.
type figure struct {
	name, unit string
	of         func(Variant) *statistics.Summary
	single     func(Repeat) float64
	// latency is true if lower is better, and if the axis may be logarithmic.
	latency bool
}

// axis label of the figure.
func (f figure) axis() string { return join(f.name, bracketed(f.unit)) }

func bracketed(unit string) string {
	if unit == "" {
		return ""
	}
	return "(" + unit + ")"
}

var (
	tpsFigure = figure{"TPS", "", func(v Variant) *statistics.Summary { return v.TPS }, func(r Repeat) float64 { return r.TPS }, false}
	p99Figure = figure{"p99 latency", "ms", func(v Variant) *statistics.Summary { return v.LatencyP99 }, func(r Repeat) float64 { return r.LatencyP99 }, true}
)

// groupCharts are the charts of a group by where they are shown.
type groupCharts struct {
	overview, grids, curves, layers []chart.Chart
	// runs of each ordered variant.
	runs [][]chart.Chart
}

// all charts as they follow each other.
func (c groupCharts) all() []chart.Chart {
	var out []chart.Chart
	for _, part := range append([][]chart.Chart{c.overview, c.grids, c.curves, c.layers}, c.runs...) {
		out = append(out, part...)
	}
	return out
}

// sketch collects charts and their errors.
type sketch struct{ err error }

func (s *sketch) add(into *[]chart.Chart, c chart.Chart, err error) {
	if err != nil {
		s.err = errors.Join(s.err, err)
		return
	}
	*into = append(*into, c)
}

// charts of a group.
func (r Report) charts(g Group) (groupCharts, error) {
	var out groupCharts
	var s sketch
	for _, f := range []figure{tpsFigure, p99Figure} {
		if g.has(f) {
			c, err := g.intervals(f)
			s.add(&out.overview, c, err)
		}
		for _, facet := range r.facets(g) {
			grid, text, known := facet.grid(g, f)
			if known {
				c, err := chart.HeatMap(join(f.axis(), "by", facet.rows.Name, "and", facet.columns.Name, facet.fixed, g.suffix()), text, grid)
				s.add(&out.grids, c, err)
			}
		}
	}
	if r.Together {
		g.addTogether(&out.overview, &s)
	}
	g.addCurves(&out, &s)
	for _, v := range g.ordered() {
		var runs []chart.Chart
		g.addRuns(&runs, v, &s)
		out.runs = append(out.runs, runs)
		g.addLayers(&out.layers, v, &s)
	}
	return out, s.err
}

// has reports whether some variant has the figure.
func (g Group) has(f figure) bool {
	for _, v := range g.Variants {
		if f.of(v) != nil {
			return true
		}
	}
	return false
}

// distinct is the name of a variant without the words that all variants of the group share,
// which would take the room of a chart. The title and the text of a chart have the whole names.
func (g Group) distinct(v Variant) string {
	words := strings.Fields(v.Name)
	kept := slices.DeleteFunc(slices.Clone(words), func(word string) bool {
		return !slices.ContainsFunc(g.Variants, func(other Variant) bool { return !slices.Contains(strings.Fields(other.Name), word) })
	})
	if len(kept) == 0 {
		return v.Name
	}
	return strings.Join(kept, " ")
}

// suffix of every title.
func (g Group) suffix() string { return "– durability " + string(g.Durability) }

func (g Group) intervals(f figure) (chart.Chart, error) {
	var rows []chart.Row
	var words []string
	for _, v := range g.ordered() {
		row := chart.Row{Name: g.distinct(v), Note: references(g.caveatsOf(v))}
		if s := f.of(v); s != nil {
			row.Mean, row.Interval = &s.Mean, (*chart.Range)(s.Interval)
		}
		for _, repeat := range v.Repeats {
			value := f.single(repeat)
			switch {
			case repeat.Counted:
				row.Values = append(row.Values, value)
			case value != 0:
				row.Rejected = append(row.Rejected, value)
			}
		}
		rows = append(rows, row)
		words = append(words, fmt.Sprintf("%s: %s, %d of %d repeats counted", v.Name, mean(f.of(v), f.unit), v.counted(), len(v.Repeats)))
	}
	return chart.Intervals(join(f.axis(), "with 95% intervals", g.suffix()), strings.Join(words, "; ")+".", chart.Axis{Label: f.axis(), Logarithmic: f.latency}, rows)
}

// addCurves of percentiles, a few in each chart.
func (g Group) addCurves(out *groupCharts, s *sketch) {
	var with []Variant
	for _, v := range g.ordered() {
		if len(v.Curve) > 0 {
			with = append(with, v)
		}
	}
	for from := 0; from < len(with); from += chart.MostCurves {
		part := with[from:min(from+chart.MostCurves, len(with))]
		var curves []chart.Curve
		var words []string
		for _, v := range part {
			curves = append(curves, v.curve(g.distinct(v)))
			words = append(words, v.curveText())
		}
		title := join("Latency (ms) by percentile", bracketed(chunk(from, len(with))), g.suffix())
		c, err := chart.Percentiles(title, strings.Join(words, " "), curves)
		s.add(&out.curves, c, err)
	}
}

// chunk names the variants that a chart has if they need several charts.
func chunk(from, all int) string {
	if all <= chart.MostCurves {
		return ""
	}
	return fmt.Sprintf("variants %d to %d of %d", from+1, min(from+chart.MostCurves, all), all)
}

func (v Variant) curve(name string) chart.Curve {
	c := chart.Curve{Name: name, Count: v.Latencies}
	for _, p := range v.Curve {
		c.Points = append(c.Points, chart.Point{X: p.Percent, Y: p.Latency})
	}
	for _, p := range v.Percentiles {
		if p.Latency.Interval != nil {
			c.Intervals = append(c.Intervals, chart.PercentInterval{Percent: p.Percent, Mean: p.Latency.Mean, Range: chart.Range(*p.Latency.Interval)})
		}
	}
	return c
}

func (v Variant) curveText() string {
	var words []string
	for _, p := range v.Curve {
		words = append(words, percent(p)+" "+number(p.Latency))
	}
	return fmt.Sprintf("%s, percentiles of %s latencies in milliseconds: %s.", v.Name, v.latencies(), strings.Join(words, ", "))
}

func percent(p histogram.Point) string { return fmt.Sprintf("%g%%", p.Percent) }

// addRuns are the seconds of a variant's repeats, with what disturbed them.
func (g Group) addRuns(into *[]chart.Chart, v Variant, s *sketch) {
	all := v.events()
	for _, f := range []struct {
		name, unit string
		of         func(Second) float64
		mean       func(Repeat) string
		latency    bool
	}{
		{"TPS", "", func(s Second) float64 { return s.TPS }, func(r Repeat) string { return withUnit(r.TPS, "TPS") }, false},
		{"average latency", "ms", func(s Second) float64 { return s.Latency }, func(r Repeat) string { return withUnit(r.LatencyAverage, "ms") }, true},
	} {
		var lines []chart.Line
		var words []string
		known := false
		for _, r := range v.Repeats {
			if len(r.Seconds) == 0 {
				continue
			}
			line := chart.Line{Name: r.title(f.mean(r)), Rejected: !r.Counted, Events: charted(all, r.Number)}
			for _, second := range r.Seconds {
				value := f.of(second)
				known = known || value != 0
				if f.latency && value == 0 {
					// Nothing committed in this second, so there is no latency.
					continue
				}
				line.Points = append(line.Points, chart.Point{X: second.At, Y: value})
			}
			lines = append(lines, line)
			words = append(words, r.lineText(line, f.unit))
		}
		if !known {
			continue
		}
		label := join(f.name, bracketed(f.unit))
		c, err := chart.OverTime(join(label, "over time,", v.Name, g.suffix()), strings.Join(words, " "), chart.Axis{Label: label, Logarithmic: f.latency}, lines)
		s.add(into, c, err)
	}
}

// withUnit is a figure with its unit; empty where it was not measured.
func withUnit(value float64, unit string) string {
	if value == 0 {
		return ""
	}
	return number(value) + " " + unit
}

// title of a repeat in a chart of what has this mean.
func (r Repeat) title(mean string) string {
	text := fmt.Sprintf("repeat %d", r.Number)
	if mean != "" {
		text += ": mean " + mean
	}
	if !r.Counted {
		text += ", excluded"
	}
	return text
}

// lineText describes a line in words.
func (r Repeat) lineText(l chart.Line, unit string) string {
	text := fmt.Sprintf("Repeat %d", r.Number)
	if !r.Counted {
		text += ", excluded"
	}
	if len(l.Points) == 0 {
		return text + ": no seconds."
	}
	least, most := l.Points[0].Y, l.Points[0].Y
	for _, p := range l.Points {
		least, most = min(least, p.Y), max(most, p.Y)
	}
	text = join(text+":", number(least), "to", number(most), unit, fmt.Sprintf("in %d seconds", len(l.Points)))
	for _, e := range l.Events {
		text += fmt.Sprintf("; %s %s at %s s", e.Tag, e.Name, number(e.From))
	}
	return text + "."
}

func (g Group) addLayers(into *[]chart.Chart, v Variant, s *sketch) {
	timed := costs(v.Layers)
	if len(timed) == 0 {
		return
	}
	var rows []chart.Row
	var words []string
	for _, c := range timed {
		row := chart.Row{Name: c.Name, Note: c.Method, Mean: &c.Time.Mean, Interval: (*chart.Range)(c.Time.Interval), Below: c.below}
		if !c.separate {
			row.Note = join(row.Note, "– no separate cost can be claimed")
		}
		rows = append(rows, row)
		words = append(words, c.Name+": "+mean(&c.Time, "ms"))
	}
	c, err := chart.Bars(join("Time of one operation by layer (ms),", v.Name, g.suffix()), strings.Join(words, "; ")+". "+attribution(v.Layers), "ms", rows)
	s.add(into, c, err)
}
