package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/internal/bench/comparison"
	"github.com/pgstorage/pgstorage/internal/bench/report/document"
)

// Gate that compares the benchmark with an older one.
type Gate struct {
	// Passed is nil while the gate has not decided, and if it cannot.
	Passed  *bool  `json:"passed,omitempty"`
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}

// headlines of the report, one for each tier: the verdict, and the three figures that matter.
func (r Report) headlines() []document.Headline {
	var out []document.Headline
	for _, g := range r.Groups {
		h := document.Headline{Label: g.title(), Verdict: r.verdict(g)}
		h.Tone, h.Status = r.status(g)
		switch {
		case r.running() || r.Together || !g.hasFigures():
		case len(g.Ranking) > 1:
			h.Figures = r.matrixFigures(g)
		default:
			h.Figures = r.singleFigures(g)
		}
		out = append(out, h)
	}
	return out
}

func (g Group) hasFigures() bool { return g.has(tpsFigure) }

// status of a group in a few words.
func (r Report) status(g Group) (document.Tone, string) {
	all, counted, unchecked := 0, 0, 0
	for _, v := range g.Variants {
		all, counted, unchecked = all+len(v.Repeats), counted+v.counted(), unchecked+len(v.unchecked())
	}
	share := fmt.Sprintf("%d of %d runs count", counted, all)
	switch {
	case counted == 0:
		return document.Worse, "No valid run"
	case r.running():
		return document.Warning, "Not finished: " + share
	case r.Gate.failed():
		return document.Worse, "Gate failed: " + share
	case len(g.caveats()) > 0:
		return document.Warning, "Valid with caveats: " + share
	case unchecked > 0:
		return document.Warning, "Valid as far as checked: " + share
	}
	return document.Better, "Valid: " + share
}

func (g *Gate) failed() bool { return g != nil && g.Passed != nil && !*g.Passed }

// matrixFigures are the best variant, its gain over the baseline, and the gate.
func (r Report) matrixFigures(g Group) []document.Figure {
	best := g.ordered()[0]
	leaders := 0
	for _, p := range g.Ranking {
		if g.rank(p.Variant) == 1 {
			leaders++
		}
	}
	first := document.Figure{Name: "Best variant", Value: best.Name, Detail: join(mean(best.TPS, "TPS"))}
	switch {
	case leaders == 0:
		best = g.fastest()
		first = document.Figure{Name: "Highest TPS, not compared", Value: best.Name, Detail: join(mean(best.TPS, "TPS"))}
	case leaders > 1:
		first = document.Figure{
			Name: "Best variants", Value: fmt.Sprintf("%d share rank 1", leaders),
			Detail: fmt.Sprintf("highest median: %s, %s", best.Name, mean(best.TPS, "TPS")),
		}
	}
	third := document.Figure{Name: "p99 latency", Value: none, Detail: "not measured"}
	if best.LatencyP99 != nil {
		third.Value, third.Detail = number(best.LatencyP99.Mean)+" ms", best.Name+": "+meanInterval(best.LatencyP99, "ms")
	}
	if r.Gate != nil {
		third = r.Gate.figure()
	}
	return []document.Figure{first, g.gain(best.Name), third}
}

// fastest is the variant with the highest mean rate, whether or not chance can be excluded.
func (g Group) fastest() Variant {
	return slices.MaxFunc(g.Variants, func(a, b Variant) int { return cmp.Compare(a.rate(), b.rate()) })
}

// rate is the mean rate; zero without counted repeats.
func (v Variant) rate() float64 {
	if v.TPS == nil {
		return 0
	}
	return v.TPS.Mean
}

// gain of the best variant over the baseline.
func (g Group) gain(best string) document.Figure {
	f := document.Figure{Name: "Gain in TPS over the baseline", Value: none}
	if g.rank(best) == 0 {
		f.Detail = best + " was not compared with the baseline, " + g.Baseline
		return f
	}
	if best == g.Baseline {
		f.Detail = "no variant is better than the baseline, " + g.Baseline
		return f
	}
	d := find(g.Differences, g.Baseline, best)
	c := d.Comparison
	if c == nil {
		f.Detail = fmt.Sprintf("%s cannot be compared with the baseline, %s", best, g.Baseline)
		return f
	}
	f.Value, f.Tone = fmt.Sprintf("%+.1f%%", 100*(c.Ratio-1)), document.Better
	f.Detail = fmt.Sprintf("95%% interval %+.1f%% to %+.1f%%, %s; baseline: %s", 100*(c.Interval.Lower-1), 100*(c.Interval.Upper-1), probability(d.P), g.Baseline)
	if d.Verdict == comparison.NoDifference {
		f.Value, f.Tone = "~", document.Plain
		f.Detail = "no difference can be claimed: " + f.Detail
	}
	return f
}

func probability(p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.3f", p)
}

// figure of the gate.
func (g *Gate) figure() document.Figure {
	f := document.Figure{Name: "Gate", Value: "Undecided", Tone: document.Warning, Detail: strings.TrimSuffix(join(g.Reason+":", g.Message), ":")}
	if g.Passed != nil {
		f.Value, f.Tone = "Failed", document.Worse
		if *g.Passed {
			f.Value, f.Tone = "Passed", document.Better
		}
	}
	return f
}

// singleFigures are the rate, the latency and what a commit survives, of the one variant with
// figures.
func (r Report) singleFigures(g Group) []document.Figure {
	var v Variant
	for _, v = range g.ordered() {
		if v.TPS != nil {
			break
		}
	}
	figures := []document.Figure{
		{Name: "TPS", Value: number(v.TPS.Mean), Detail: meanInterval(v.TPS, "")},
		{Name: "p99 latency", Value: none, Detail: "not measured"},
		{Name: "Durability", Value: string(g.Durability), Detail: g.acknowledged()},
	}
	if s := v.LatencyP99; s != nil {
		figures[1].Value, figures[1].Detail = number(s.Mean)+" ms", meanInterval(s, "ms")
	}
	if r.Gate != nil {
		figures[2] = r.Gate.figure()
	}
	return figures
}
