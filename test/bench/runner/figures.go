//go:build linux

package runner

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/test/bench/harness"
)

// mostCost of the runner, as a share of the rate of the same pgbench by hand.
const mostCost = 0.01

// key of what is compared.
type key struct {
	script  v1alpha1.Script
	clients int
}

func (k key) String() string { return fmt.Sprintf("%s, %d clients", k.script, k.clients) }

// line compares a side with another.
type line struct {
	key
	side, against string
	of, from      statistics.Summary
	// out is how many pairs are not compared, as their ratios are outliers.
	out int
	// compared is nil where there are too few pairs.
	compared *statistics.Comparison
}

// of one side in all its runs.
type side struct {
	key
	name string
	// tps, and the part of the transactions that the log had.
	tps, sampled statistics.Summary
}

type figures struct {
	sides []side
	lines []line
}

// summarise the runs.
func summarise(runs []Run) figures {
	all := map[key][]Run{}
	for _, r := range runs {
		k := key{r.Script, r.Clients}
		all[k] = append(all[k], r)
	}
	var f figures
	for _, k := range slices.SortedFunc(maps.Keys(all), byKey) {
		f.add(k, all[k])
	}
	return f
}

func byKey(a, b key) int {
	return cmp.Or(cmp.Compare(a.script, b.script), cmp.Compare(a.clients, b.clients))
}

// add the runs of one key: every side with pgbench that observes nothing, and the runner
// with the same pgbench by hand.
func (f *figures) add(k key, runs []Run) {
	tps, sampled := map[string]map[int]float64{}, map[string][]float64{}
	for _, r := range runs {
		if tps[r.Side] == nil {
			tps[r.Side] = map[int]float64{}
		}
		tps[r.Side][r.Pair] = r.TPS
		sampled[r.Side] = append(sampled[r.Side], r.SamplingRate)
	}
	names := slices.Sorted(maps.Keys(tps))
	for _, name := range names {
		f.sides = append(f.sides, side{key: k, name: name, tps: summary(tps[name]), sampled: harness.Summary(sampled[name])})
	}
	for _, against := range []string{Bare, Plain} {
		for _, name := range names {
			if name == Runner || against == Plain && name != Plain {
				l := line{key: k, side: name, against: against}
				l.compare(tps[against], tps[name])
				f.lines = append(f.lines, l)
			}
		}
	}
}

// compare pair by pair, but for those in which something else hit one of the two.
func (l *line) compare(from, of map[int]float64) {
	from, of = maps.Clone(from), maps.Clone(of)
	missing := func(pair int, _ float64) bool { return from[pair] <= 0 || of[pair] <= 0 }
	maps.DeleteFunc(from, missing)
	maps.DeleteFunc(of, missing)
	pairs := slices.Sorted(maps.Keys(from))
	var ratios []float64
	for _, pair := range pairs {
		ratios = append(ratios, math.Log(of[pair]/from[pair]))
	}
	out := statistics.Outliers(ratios)
	for _, at := range out {
		delete(from, pairs[at])
		delete(of, pairs[at])
	}
	l.out = len(out)
	l.from, l.of = summary(from), summary(of)
	l.compared = harness.Gain(tier, of, from)
}

func summary(values map[int]float64) statistics.Summary {
	return harness.Summary(slices.Collect(maps.Values(values)))
}

// Verdicts on the cost.
const (
	pass   = "PASS"
	miss   = "MISS"
	untold = "cannot be told"
)

// verdict by the whole interval: at most mostCost with its confidence, or more.
func (l line) verdict() string {
	switch {
	case l.compared == nil:
		return untold
	case l.compared.Interval.Lower >= 1-mostCost:
		return pass
	case l.compared.Interval.Upper < 1-mostCost:
		return miss
	}
	return untold
}

// wanted is about how many pairs would show a difference at this spread: the interval narrows
// with the square root of their number.
func (l line) wanted() int {
	if l.compared == nil {
		return statistics.FewestToCompare
	}
	half := math.Log(l.compared.Interval.Upper/l.compared.Interval.Lower) / 2
	distance := math.Abs(math.Log(l.compared.Ratio / (1 - mostCost)))
	return int(math.Ceil(float64(l.from.N) * math.Pow(half/max(distance, 1e-4), 2)))
}

func (l line) cost() string {
	if l.compared == nil {
		return "too few pairs"
	}
	percent := func(ratio float64) float64 { return 100 * (1 - ratio) }
	c := l.compared
	return fmt.Sprintf("%.2f%% (%.2f to %.2f)", percent(c.Ratio), percent(c.Interval.Upper), percent(c.Interval.Lower))
}

// print the table of the sides that are compared with one, in Markdown.
func (f figures) print(out io.Writer, against string) {
	_, _ = fmt.Fprintf(out, "| script | clients | side | TPS, mean (95%% interval) | of %s pgbench | cost, %% of the TPS (95%% interval of the pairs) | pairs, outliers left out | mark | |\n", against)
	_, _ = fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|---|")
	for _, l := range f.lines {
		if l.against != against {
			continue
		}
		mark, verdict := "", ""
		if l.judged() {
			mark, verdict = fmt.Sprintf("at most %.0f%%", 100*mostCost), l.verdict()
		}
		_, _ = fmt.Fprintf(out, "| %s | %d | %s | %s | %s | %s | %d, %d | %s | %s |\n", l.script, l.clients, l.side, rate(l.of), rate(l.from), l.cost(), l.from.N, l.out, mark, verdict)
	}
}

func rate(s statistics.Summary) string {
	if s.Interval == nil {
		return fmt.Sprintf("%.0f", s.Mean)
	}
	return fmt.Sprintf("%.0f (%.0f to %.0f)", s.Mean, s.Interval.Lower, s.Interval.Upper)
}

// judged is the cost of the runner alone.
func (l line) judged() bool { return l.side == Runner && l.against == Bare }

// judge compares the figures with the mark. A mark that the figures cannot decide is not met.
func (f figures) judge() error {
	var missed []error
	count := 0
	for _, l := range f.lines {
		if !l.judged() {
			continue
		}
		count++
		switch l.verdict() {
		case miss:
			missed = append(missed, fmt.Errorf("missed: %s: the runner costs %s, at most %.0f%%", l.key, l.cost(), 100*mostCost))
		case untold:
			missed = append(missed, fmt.Errorf("cannot be told: %s: the runner costs %s, at most %.0f%%; about %d pairs would tell", l.key, l.cost(), 100*mostCost, l.wanted()))
		}
	}
	if count == 0 {
		missed = append(missed, errors.New("missed: nothing was measured"))
	}
	return errors.Join(missed...)
}

// results in Go's benchmark format. An operation is a transaction.
func (f figures) results() string {
	var b strings.Builder
	for _, s := range f.sides {
		_, _ = fmt.Fprintf(&b, "BenchmarkRunner/script=%s/clients=%d/side=%s\t1\t%.0f ns/op\t%.1f tps\n", s.script, s.clients, s.name, 1e9/max(1e-9, s.tps.Mean), s.tps.Mean)
	}
	return b.String()
}
