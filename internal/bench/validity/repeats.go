package validity

import (
	"fmt"

	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

const (
	// EnoughRepeats of a run.
	EnoughRepeats = 5
	// wideSpread is the standard deviation, as a share of the mean, from which on
	// five repeats leave an interval of an eighth to each side.
	wideSpread = 0.1
)

// Repeats says whether the repeats of a variant agree enough to represent it. Numbers are those
// of the summarised repeats, in the same order.
func Repeats(s statistics.Summary, numbers []int) Finding {
	switch {
	case s.N < EnoughRepeats:
		return Finding{CheckRepeats, Caution, ReasonTooFewRepeats, fmt.Sprintf(
			"%d repeat(s) are too few to exclude chance; set repeats to %d or more", s.N, EnoughRepeats)}
	case s.Variation > wideSpread:
		return Finding{CheckRepeats, Caution, ReasonWideSpread, fmt.Sprintf(
			"the repeats spread by %.0f%% of their mean, so only large differences are detectable. Run for longer, rest between runs, or find what disturbs the machine", 100*s.Variation)}
	case len(s.Outliers) > 0 && s.Outliers[0] < len(numbers):
		return Finding{CheckRepeats, Caution, ReasonOutlyingRepeat, fmt.Sprintf(
			"repeat %d is an outlier and still counts; read its findings for the cause, and repeat the benchmark", numbers[s.Outliers[0]])}
	}
	return passed(CheckRepeats, fmt.Sprintf("%d repeats within %.1f%%", s.N, 100*s.Variation))
}
