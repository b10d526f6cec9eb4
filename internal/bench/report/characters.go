package report

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

const (
	gaugeWidth     = 40
	sparklineWidth = 60
)

// gauges of the variants' TPS on one scale from zero, drawn with characters.
func (g Group) gauges() []string {
	top, longest := 0.0, 0
	for _, v := range g.Variants {
		if v.TPS == nil {
			continue
		}
		top = math.Max(top, v.TPS.Mean)
		if v.TPS.Interval != nil {
			top = math.Max(top, v.TPS.Interval.Upper)
		}
		longest = max(longest, utf8.RuneCountInString(v.Name))
	}
	if top == 0 {
		return nil
	}
	lines := []string{fmt.Sprintf("TPS, mean and 95%% interval, from 0 to %s", number(top))}
	for _, v := range g.ordered() {
		if v.TPS != nil {
			name := v.Name + strings.Repeat(" ", longest-utf8.RuneCountInString(v.Name))
			lines = append(lines, name+" │"+gauge(*v.TPS, top)+"│")
		}
	}
	return lines
}

// gauge of a mean and its interval from zero to top.
func gauge(s statistics.Summary, top float64) string {
	cells := []rune(strings.Repeat(" ", gaugeWidth))
	cell := func(v float64) int {
		return int(math.Round(math.Max(0, math.Min(v/top, 1)) * (gaugeWidth - 1)))
	}
	if i := s.Interval; i != nil {
		for at := cell(i.Lower); at <= cell(i.Upper); at++ {
			cells[at] = '─'
		}
		cells[cell(i.Lower)], cells[cell(i.Upper)] = '├', '┤'
	}
	cells[cell(s.Mean)] = '●'
	return string(cells)
}

// sparklines of the TPS of a variant's repeats, on one scale from zero.
func (v Variant) sparklines() []string {
	top := 0.0
	for _, r := range v.Repeats {
		for _, s := range r.Seconds {
			top = math.Max(top, s.TPS)
		}
	}
	if top == 0 {
		return nil
	}
	lines := []string{fmt.Sprintf("TPS over time, from 0 to %s", number(top))}
	for _, r := range v.Repeats {
		line := fmt.Sprintf("repeat %-2d │%s│ %s", r.Number, sparkline(r.Seconds, top), measured(r.TPS))
		if !r.Counted {
			line += ", excluded"
		}
		lines = append(lines, line)
	}
	return lines
}

var sparks = []rune("▁▂▃▄▅▆▇█")

// sparkline of the rate; of more seconds than there is room for, the lowest of
// neighbours is shown, so that a stall is seen.
func sparkline(seconds []Second, top float64) string {
	group := (len(seconds) + sparklineWidth - 1) / sparklineWidth
	var line []rune
	for from := 0; from < len(seconds); from += max(1, group) {
		least := top
		for _, s := range seconds[from:min(from+group, len(seconds))] {
			least = math.Min(least, s.TPS)
		}
		at := int(math.Max(0, least) / top * float64(len(sparks)))
		line = append(line, sparks[min(at, len(sparks)-1)])
	}
	return string(line)
}
