package faults

import (
	"fmt"
	"strings"

	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/internal/testing/document"
)

// Way of running a database whose transactions a test counted.
type Way struct {
	Name string
	// TPS of each round, in the order in which they ran.
	TPS []float64
	// Mark is the least share of the first way's TPS. 0 sets none.
	Mark float64
}

// Cost compares the medians of ways with that of the first, in Markdown. The date is that of the
// measurement. It returns an error where a way has no round.
func Cost(date string, ways ...Way) (string, error) {
	var b strings.Builder
	b.WriteString("Medians of " + date + ":\n\n| way | TPS | lowest | highest | times as many | mark |\n|---|---|---|---|---|---|\n")
	first := 0.0
	for i, way := range ways {
		s, err := statistics.Summarise(way.TPS)
		if err != nil {
			return "", fmt.Errorf("%s: %w", way.Name, err)
		}
		if i == 0 {
			first = s.Median
		}
		fmt.Fprintf(&b, "| %s | %.0f | %.0f | %.0f | %.2f | %s |\n", way.Name, s.Median, s.Min, s.Max, s.Median/first, verdict(way.Mark, s.Median/first))
	}
	return b.String(), nil
}

func verdict(mark, share float64) string {
	if mark == 0 {
		return ""
	}
	word := "PASS"
	if share < mark {
		word = "MISS"
	}
	return fmt.Sprintf("%.2f: %s", mark, word)
}

// WriteCost puts the comparison of what something costs into its place in a page in Markdown.
// Without a page, it does nothing.
func WriteCost(page, something, date string, ways ...Way) error {
	table, err := Cost(date, ways...)
	if err != nil || page == "" {
		return err
	}
	of := document.Place{Begin: "<!-- cost of " + something + " -->", End: "<!-- end of cost of " + something + " -->"}
	return of.Write(page, table)
}
