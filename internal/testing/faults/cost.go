package faults

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/internal/testing/document"
)

// Way of running a database whose transactions a test counted.
type Way struct {
	Name string
	// TPS of each round. The rounds of the same place in two ways ran beside each other in time.
	TPS []float64
	// Mark is the least share of the first way's TPS. 0 sets none.
	Mark float64
}

// Cost compares ways with the first one, in Markdown with the date of the measurement. It compares
// pair by pair, because a shared machine is not as fast in each minute. Ways of different lengths
// are an error, and so are fewer rounds than a comparison needs. A mark that is missed is an error
// too, and then the table is complete.
func Cost(date string, ways ...Way) (string, error) {
	var b strings.Builder
	var missed error
	b.WriteString("Medians of " + date + ", with the ratio of pairs and its interval at 95%:\n\n| way | rounds | TPS | lowest | highest | times as many | mark |\n|---|---|---|---|---|---|---|\n")
	for i, way := range ways {
		s, err := statistics.Summarise(way.TPS)
		if err != nil {
			return "", fmt.Errorf("%s: %w", way.Name, err)
		}
		var ratio, word string
		if i > 0 {
			c, err := statistics.ComparePaired(ways[0].TPS, way.TPS) //nolint:forbidigo // ways are of one database, and so of one durability tier
			if err != nil {
				return "", fmt.Errorf("%s: %w", way.Name, err)
			}
			ratio = fmt.Sprintf("%.2f (%.2f to %.2f)", c.Ratio, c.Interval.Lower, c.Interval.Upper)
			word = verdict(way.Mark, c)
			if c.Ratio < way.Mark {
				missed = errors.Join(missed, fmt.Errorf("%s: %s times the TPS, want at least %.2f", way.Name, ratio, way.Mark))
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %.0f | %.0f | %.0f | %s | %s |\n", way.Name, len(way.TPS), s.Median, s.Min, s.Max, ratio, word)
	}
	return b.String(), missed
}

// verdict of a mark. A ratio above it whose interval reaches below it shows nothing.
func verdict(mark float64, c statistics.Comparison) string {
	word := "not shown"
	switch {
	case mark == 0:
		return ""
	case c.Ratio < mark:
		word = "MISS"
	case c.Interval.Lower >= mark:
		word = "PASS"
	}
	return fmt.Sprintf("%.2f: %s", mark, word)
}

// WriteCost puts the comparison of what something costs into its place in a page in Markdown.
// Without a page, it writes nothing. It returns the errors of Cost.
func WriteCost(page, something, date string, ways ...Way) error {
	table, err := Cost(date, ways...)
	if table == "" || page == "" {
		return err
	}
	of := document.Place{Begin: "<!-- cost of " + something + " -->", End: "<!-- end of cost of " + something + " -->"}
	return errors.Join(err, of.Write(page, table))
}
