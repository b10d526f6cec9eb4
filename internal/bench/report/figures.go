package report

import (
	"fmt"
	"strings"

	"github.com/pgstorage/pgstorage/internal/bench/report/chart"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// none is shown where there is no figure.
const none = "–"

func number(v float64) string { return chart.Number(v) }

// between the ends of an interval, or why there is none.
func between(i *statistics.Interval, why string) string {
	if i == nil {
		return "[" + why + "]"
	}
	return fmt.Sprintf("[%s, %s]", number(i.Lower), number(i.Upper))
}

// mean with its interval.
func mean(s *statistics.Summary, unit string) string {
	if s == nil {
		return none
	}
	return join(number(s.Mean), unit, between(s.Interval, "no interval for one repeat"))
}

// meanInterval in words.
func meanInterval(s *statistics.Summary, unit string) string {
	if s.Interval == nil {
		return "one repeat, so no interval"
	}
	return join("mean of", fmt.Sprint(s.N), "repeats, 95% interval", number(s.Interval.Lower), "to", number(s.Interval.Upper), unit)
}

// median with its interval, which few repeats do not have.
func median(s *statistics.Summary, unit string) string {
	if s == nil {
		return none
	}
	if s.MedianInterval == nil {
		return join(number(s.Median), unit)
	}
	return join(number(s.Median), unit, between(s.MedianInterval, ""))
}

// join words, leaving out empty ones.
func join(words ...string) string {
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// list of names, as "a, b and c".
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// few names as a list, or how many there are.
func few(names []string) string {
	const most = 3
	if len(names) <= most {
		return list(names)
	}
	return fmt.Sprintf("%s and %d more variants", strings.Join(names[:most-1], ", "), len(names)-most+1)
}

// numbers as a list.
func numbers(all []int) string {
	var words []string
	for _, n := range all {
		words = append(words, fmt.Sprint(n))
	}
	return list(words)
}
