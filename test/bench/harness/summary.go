package harness

import (
	"fmt"

	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// Of summarises a figure of several runs.
func Of[R any](runs []R, figure func(R) float64) statistics.Summary {
	values := make([]float64, 0, len(runs))
	for _, r := range runs {
		values = append(values, figure(r))
	}
	return Summary(values)
}

// Summary of repeated values. Without values, or where one is not a number, it is zero,
// which meets no mark.
func Summary(values []float64) statistics.Summary {
	s, err := statistics.Summarise(values)
	if err != nil {
		return statistics.Summary{}
	}
	return s
}

// Spread is the median with the least and the most, and the 95% interval of the mean
// where there are enough repeats for one. It divides the values by a unit, such as 1e3.
func Spread(s statistics.Summary, decimals int, unit float64) string {
	if s.N == 0 {
		return "–"
	}
	number := func(v float64) string { return fmt.Sprintf("%.*f", decimals, v/unit) }
	text := fmt.Sprintf("%s (%s to %s)", number(s.Median), number(s.Min), number(s.Max))
	if s.Interval == nil {
		return text
	}
	return text + fmt.Sprintf("; %s to %s", number(s.Interval.Lower), number(s.Interval.Upper))
}
