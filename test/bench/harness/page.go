//go:build linux

package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/internal/testing/document"
)

// Place of what a make target writes into its page. The rest of the page is a person's.
func Place(target string) document.Place {
	return document.Place{Begin: "<!-- written by make " + target + " -->", End: "<!-- end of what make " + target + " writes -->"}
}

// Lines of JSON, one for each value: every run that was measured.
func Lines[T any](values []T) ([]byte, error) {
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	for _, v := range values {
		if err := lines.Encode(v); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// Accelerator of a machine, in words.
func Accelerator(name string) string {
	return map[string]string{"tcg": "An emulated processor (QEMU's TCG)", "kvm": "KVM"}[name]
}

// Settings of what was measured, folded away: lines, and parameters by a title.
func Settings(out io.Writer, lines []string, parameters map[string]map[string]string) {
	var parts []string
	if len(lines) > 0 {
		parts = append(parts, strings.Join(lines, "\n")+"\n")
	}
	for _, title := range slices.Sorted(maps.Keys(parameters)) {
		var part strings.Builder
		part.WriteString(title + ":\n")
		for _, name := range slices.Sorted(maps.Keys(parameters[title])) {
			part.WriteString(name + " = " + parameters[title][name] + "\n")
		}
		parts = append(parts, part.String())
	}
	_, _ = fmt.Fprintf(out, "\n<details><summary>Properties and parameters</summary>\n\n```\n%s```\n\n</details>\n", strings.Join(parts, "\n"))
}

// Summary of what repeats measured. It is the zero one without any, or where one is not
// a number: no mark is met by that.
func Summary(values []float64) statistics.Summary {
	s, err := statistics.Summarise(values)
	if err != nil {
		return statistics.Summary{}
	}
	return s
}

// Spread is a median with the least and the most, and the 95 % interval of the mean
// where there are repeats enough for one. Values are divided by a unit, as 1e3.
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
