//go:build linux

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/comparison"
	"github.com/pgstorage/pgstorage/internal/statistics"
)

// mostCost of the runner, as a share of pgbench's own rate.
const mostCost = 0.01

// key of what is compared.
type key struct {
	script  v1alpha1.Script
	clients int
}

func (k key) String() string { return fmt.Sprintf("%s, %d clients", k.script, k.clients) }

// line compares one side with bare pgbench.
type line struct {
	key
	side        string
	bare, other statistics.Summary
	// compared is nil where there are too few pairs.
	compared *statistics.Comparison
	// sampled is the part of the transactions that the runner's log had.
	sampled statistics.Summary
}

type figures struct{ lines []line }

// summarise the pairs.
func summarise(runs []Run) (figures, error) {
	values := map[key]map[string]comparison.Result{}
	sampled := map[key][]float64{}
	for _, r := range runs {
		k := key{r.Script, r.Clients}
		if values[k] == nil {
			values[k] = map[string]comparison.Result{}
		}
		if values[k][r.Side].Values == nil {
			values[k][r.Side] = comparison.Result{Variant: r.Side, Tier: tier, Values: map[int]float64{}}
		}
		values[k][r.Side].Values[r.Pair] = r.TPS
		if r.Side == Runner {
			sampled[k] = append(sampled[k], r.SamplingRate)
		}
	}
	var f figures
	for k, results := range values {
		lines, err := compare(k, results)
		if err != nil {
			return f, err
		}
		for i := range lines {
			if lines[i].side != Runner {
				continue
			}
			if lines[i].sampled, err = statistics.Summarise(sampled[k]); err != nil {
				return f, err
			}
		}
		f.lines = append(f.lines, lines...)
	}
	slices.SortFunc(f.lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.side, b.side), cmp.Compare(a.script, b.script), cmp.Compare(a.clients, b.clients))
	})
	return f, nil
}

// compare the sides of a line with bare pgbench, pair by pair.
func compare(k key, results map[string]comparison.Result) ([]line, error) {
	var all []comparison.Result
	for _, r := range results {
		all = append(all, r)
	}
	groups, err := comparison.ByTier(comparison.TPS, all)
	if err != nil || len(groups) != 1 {
		return nil, errors.Join(errors.New("runs of one tier are to be compared"), err)
	}
	differences, err := groups[0].Against(Bare)
	if err != nil {
		return nil, err
	}
	var lines []line
	for _, d := range differences {
		l := line{key: k, side: d.Variant, compared: d.Comparison}
		l.bare, _ = groups[0].Summary(Bare)
		l.other, _ = groups[0].Summary(d.Variant)
		lines = append(lines, l)
	}
	return lines, nil
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

// wanted is about how many pairs would tell, the spread being what it is: the interval
// narrows with the square root of their number.
func (l line) wanted() int {
	if l.compared == nil {
		return statistics.FewestToCompare
	}
	half := math.Log(l.compared.Interval.Upper/l.compared.Interval.Lower) / 2
	distance := math.Abs(math.Log(l.compared.Ratio / (1 - mostCost)))
	return int(math.Ceil(float64(l.bare.N) * math.Pow(half/max(distance, 1e-4), 2)))
}

func (l line) cost() string {
	if l.compared == nil {
		return "too few pairs"
	}
	percent := func(ratio float64) float64 { return 100 * (1 - ratio) }
	c := l.compared
	return fmt.Sprintf("%.2f %% (%.2f to %.2f)", percent(c.Ratio), percent(c.Interval.Upper), percent(c.Interval.Lower))
}

// print the table of one or of all sides but bare pgbench, in Markdown.
func (f figures) print(out io.Writer, wanted func(line) bool) {
	_, _ = fmt.Fprintln(out, "| script | clients | pgbench with | TPS of bare pgbench, mean (95 % interval) | with it | cost, % of the TPS (95 % interval of the pairs) | mark | |")
	_, _ = fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|")
	for _, l := range f.lines {
		if !wanted(l) {
			continue
		}
		mark, verdict := "", ""
		if l.side == Runner {
			mark, verdict = fmt.Sprintf("at most %.0f %%", 100*mostCost), l.verdict()
		}
		_, _ = fmt.Fprintf(out, "| %s | %d | %s | %s | %s | %s | %s | %s |\n", l.script, l.clients, l.side, rate(l.bare), rate(l.other), l.cost(), mark, verdict)
	}
}

func rate(s statistics.Summary) string {
	if s.Interval == nil {
		return fmt.Sprintf("%.0f", s.Mean)
	}
	return fmt.Sprintf("%.0f (%.0f to %.0f)", s.Mean, s.Interval.Lower, s.Interval.Upper)
}

func ofRunner(l line) bool { return l.side == Runner }

// judge by the mark. What cannot be told is not met.
func (f figures) judge() error {
	var missed []error
	count := 0
	for _, l := range f.lines {
		if !ofRunner(l) {
			continue
		}
		count++
		switch l.verdict() {
		case miss:
			missed = append(missed, fmt.Errorf("missed: %s: the runner costs %s, at most %.0f %%", l.key, l.cost(), 100*mostCost))
		case untold:
			missed = append(missed, fmt.Errorf("cannot be told: %s: the runner costs %s, at most %.0f %%; about %d pairs would tell", l.key, l.cost(), 100*mostCost, l.wanted()))
		}
	}
	if count == 0 {
		missed = append(missed, errors.New("missed: nothing was measured"))
	}
	return errors.Join(missed...)
}

// benchmark prints Go's benchmark format. An operation is a transaction.
func (f figures) benchmark(out io.Writer) error {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "goos: %s\ngoarch: %s\npkg: github.com/pgstorage/pgstorage/test/benchrunner\n", runtime.GOOS, runtime.GOARCH)
	for _, l := range f.lines {
		for _, side := range []struct {
			name string
			of   statistics.Summary
		}{{Bare, l.bare}, {l.side, l.other}} {
			if side.name != Bare || ofRunner(l) {
				_, _ = fmt.Fprintf(&b, "BenchmarkRunner/script=%s/clients=%d/side=%s\t1\t%.0f ns/op\t%.1f tps\n", l.script, l.clients, side.name, 1e9/max(1e-9, side.of.Mean), side.of.Mean)
			}
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
