package report

import (
	"math"
	"slices"

	"github.com/pgstorage/pgstorage/internal/bench/comparison"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// Deltas of one figure between two sides, as benchstat prints them.
type Deltas struct {
	Figure        string `json:"figure"`
	Unit          string `json:"unit,omitempty"`
	LowerIsBetter bool   `json:"lowerIsBetter,omitempty"`
	// Old and New name the sides, for example "version=17" and "version=18". New is empty if
	// it is each row's variant.
	Old  string  `json:"old"`
	New  string  `json:"new,omitempty"`
	Rows []Delta `json:"rows"`
	// Geomean of both sides over all rows; absent where rows share a side.
	Geomean *Geomean `json:"geomean,omitempty"`
}

// Delta of one row.
type Delta struct {
	Name string              `json:"name"`
	Old  *statistics.Summary `json:"oldSummary,omitempty"`
	New  *statistics.Summary `json:"newSummary,omitempty"`
	// Difference of the new variant from the old one, corrected for all pairs of the group.
	Difference comparison.Difference `json:"difference"`
}

// Geomean is the geometric mean of the means of each side.
type Geomean struct {
	Old float64 `json:"old"`
	New float64 `json:"new"`
}

// pair of variants in a row.
type pair struct{ name, old, new string }

// pairing of the variants of a group.
type pairing struct {
	old, new string
	pairs    []pair
}

// baseline of a group: the first variant of the plan that has figures.
func (in Input) baseline(g Group) string {
	for _, v := range in.Variants {
		if at := g.index(v.Name); at >= 0 && g.Variants[at].TPS != nil {
			return v.Name
		}
	}
	for _, v := range g.Variants {
		if v.TPS != nil {
			return v.Name
		}
	}
	return ""
}

// planned variants of the group with figures, in the order of the plan.
func (in Input) planned(g Group) []string {
	var names []string
	for _, v := range in.Variants {
		names = append(names, v.Name)
	}
	for _, v := range g.Variants {
		if !slices.Contains(names, v.Name) {
			names = append(names, v.Name)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool {
		at := g.index(name)
		return at < 0 || g.Variants[at].TPS == nil
	})
}

// pairings of a group: each variant with the baseline, and, if variants differ in several
// axes, each value of an axis with its first one.
func (in Input) pairings(r Report, g Group) []pairing {
	names := in.planned(g)
	against := pairing{old: g.Baseline}
	for _, name := range names {
		if name != g.Baseline {
			against.pairs = append(against.pairs, pair{name, g.Baseline, name})
		}
	}
	out := []pairing{against}
	for _, a := range r.Axes {
		values := g.values(a)
		for _, value := range values[min(1, len(values)):] {
			if p := r.axisPairing(g, names, a.Name, values[0], value); len(p.pairs) > 1 {
				out = append(out, p)
			}
		}
	}
	return out
}

// axisPairing of the variants that differ in one axis only.
func (r Report) axisPairing(g Group, names []string, axis, from, to string) pairing {
	p := pairing{old: axis + "=" + from, new: axis + "=" + to}
	others := slices.DeleteFunc(slices.Clone(r.Axes), func(a Axis) bool { return a.Name == axis || len(g.values(a)) < 2 })
	for _, old := range names {
		for _, other := range names {
			a, b := g.Variants[g.index(old)], g.Variants[g.index(other)]
			same := !slices.ContainsFunc(r.Axes, func(x Axis) bool { return x.Name != axis && a.Values[x.Name] != b.Values[x.Name] })
			if same && a.Values[axis] == from && b.Values[axis] == to {
				p.pairs = append(p.pairs, pair{a.fixed(others), old, other})
			}
		}
	}
	return p
}

// compared figures. The average latency is not one: with a fixed number of clients it says
// what TPS says.
var compared = []struct {
	comparison.Figure
	summary func(Variant) *statistics.Summary
	repeat  func(Repeat) float64
}{
	{comparison.TPS, tpsFigure.of, tpsFigure.single},
	{comparison.LatencyP99, p99Figure.of, p99Figure.single},
}

// deltas of the group.
func (in Input) deltas(r Report, g Group) ([]Deltas, error) {
	var out []Deltas
	pairings := in.pairings(r, g)
	for _, f := range compared {
		differences := g.Differences
		if f.Figure != comparison.TPS {
			var err error
			if differences, err = g.pairs(f.Figure, f.repeat); err != nil {
				return nil, err
			}
		}
		for _, p := range pairings {
			d := Deltas{Figure: f.Name, Unit: f.Unit, LowerIsBetter: f.LowerIsBetter, Old: p.old, New: p.new}
			for _, pair := range p.pairs {
				row := Delta{Name: pair.name, Old: f.summary(g.Variants[g.index(pair.old)]), New: f.summary(g.Variants[g.index(pair.new)])}
				row.Difference = find(differences, pair.old, pair.new)
				if row.Old != nil && row.New != nil {
					d.Rows = append(d.Rows, row)
				}
			}
			if p.new != "" {
				d.Geomean = geomean(d.Rows)
			}
			if len(d.Rows) > 0 {
				out = append(out, d)
			}
		}
	}
	return out, nil
}

// pairs of the group's variants, compared by a figure.
func (g Group) pairs(figure comparison.Figure, of func(Repeat) float64) ([]comparison.Difference, error) {
	var samples []comparison.Sample
	for _, v := range g.Variants {
		s := comparison.Sample{Variant: v.Name, Tier: g.Durability, Values: map[int]float64{}}
		for _, r := range v.Repeats {
			if value := of(r); r.Counted && value != 0 {
				s.Values[r.Number] = value
			}
		}
		samples = append(samples, s)
	}
	groups, err := comparison.ByTier(figure, samples)
	if err != nil || len(groups) == 0 {
		return nil, err
	}
	return groups[0].Pairs(), nil
}

// find the difference of the new variant from the old one.
func find(differences []comparison.Difference, old, other string) comparison.Difference {
	for _, d := range differences {
		switch {
		case d.Baseline == old && d.Variant == other:
			return d
		case d.Baseline == other && d.Variant == old:
			return d.Inverse()
		}
	}
	return comparison.Difference{Baseline: old, Variant: other, Verdict: comparison.NotComparable, P: 1}
}

// geomean of rows; nil for fewer than two, and where a mean is not above zero.
func geomean(rows []Delta) *Geomean {
	if len(rows) < 2 {
		return nil
	}
	var before, after float64
	for _, r := range rows {
		if r.Old.Mean <= 0 || r.New.Mean <= 0 {
			return nil
		}
		before, after = before+math.Log(r.Old.Mean), after+math.Log(r.New.Mean)
	}
	n := float64(len(rows))
	return &Geomean{math.Exp(before / n), math.Exp(after / n)}
}
