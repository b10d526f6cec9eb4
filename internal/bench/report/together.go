package report

import (
	"fmt"
	"path"
	"strings"

	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/bench/report/chart"
)

// beside explains why the variants of several benchmarks have no ranking.
const beside = "The runs of these benchmarks were not interleaved, so a drift of the machine is part of every difference. They are shown side by side and not ranked."

// Together merges the inputs of several benchmarks into one whose report shows their variants
// side by side, with all runs over time in one chart. A variant has the name of its benchmark
// before its own. It fails if two benchmarks have the same name.
func Together(inputs []Input) (Input, error) {
	out := Input{Layers: map[string][]LayerSummary{}, Progress: &matrix.Progress{Stop: matrix.Complete}, Together: true}
	var names []string
	known := map[string]bool{}
	for _, in := range inputs {
		name := path.Base(in.About.Name)
		if known[name] {
			return Input{}, fmt.Errorf("benchmark %s is listed twice", name)
		}
		known[name] = true
		names = append(names, in.About.Name)
		out.append(name+" ", in)
	}
	out.About.Name = strings.Join(names, ", ")
	var err error
	out.Analysis, err = analysis.Analyse(out.Runs)
	return out, err
}

// append another benchmark, whose names get a prefix.
func (in *Input) append(prefix string, other Input) {
	in.About.Time = max(in.About.Time, other.About.Time)
	for _, f := range other.About.Facts {
		in.About.Facts = append(in.About.Facts, Fact{prefix + f.Name, f.Value})
	}
	for _, run := range other.Runs {
		run.Variant = prefix + run.Variant
		in.Runs = append(in.Runs, run)
	}
	for _, v := range other.Variants {
		in.Variants = append(in.Variants, matrix.Variant{Name: prefix + v.Name})
	}
	for name, layers := range other.Layers {
		in.Layers[prefix+name] = layers
	}
	for _, note := range other.Notes {
		in.Notes = append(in.Notes, strings.TrimSpace(prefix)+": "+note)
	}
	if p := other.Progress; p != nil {
		in.Progress.Succeeded += p.Succeeded
		in.Progress.Failed += p.Failed
		in.Progress.Skipped += p.Skipped
		in.Progress.Pending += p.Pending
		in.Progress.Running += p.Running
		if p.Stop != matrix.Complete {
			in.Progress.Stop = p.Stop
		}
	}
}

// addTogether draws the rate of every run of a group in one chart, on one scale.
func (g Group) addTogether(into *[]chart.Chart, s *sketch) {
	var lines []chart.Line
	var words []string
	for _, v := range g.ordered() {
		for _, r := range v.Repeats {
			if len(r.Seconds) == 0 {
				continue
			}
			line := chart.Line{Name: v.Name + ", " + r.title(withUnit(r.TPS, "TPS")), Rejected: !r.Counted}
			for _, second := range r.Seconds {
				line.Points = append(line.Points, chart.Point{X: second.At, Y: second.TPS})
			}
			lines = append(lines, line)
			words = append(words, v.Name+": "+r.lineText(line, ""))
		}
	}
	if len(lines) == 0 {
		return
	}
	c, err := chart.OverTime(join("TPS over time, all runs", g.suffix()), strings.Join(words, " "), chart.Axis{Label: "TPS"}, lines)
	s.add(into, c, err)
}
