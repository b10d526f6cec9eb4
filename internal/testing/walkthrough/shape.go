package walkthrough

import (
	"fmt"
	"regexp"
	"strings"
)

// wildcards replace, in this order, what differs between two runs of one command.
var wildcards = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\b[0-9a-f]*[0-9][0-9a-f]{5,}[0-9a-f]*\b`), "<hash>"},
	{regexp.MustCompile(`\b[0-9a-f]{3,}[0-9][0-9a-f]{2,}\b`), "<hash>"},
	{regexp.MustCompile(`\b(\d+(\.\d+)?(d|h|m|s|ms))+\b`), "<age>"},
	{regexp.MustCompile(`\d+(\.\d+)*`), "<n>"},
}

// Shape of a line: its words, with numbers, ages and hashes replaced and its columns closed up.
func Shape(line string) string {
	line = strings.Join(strings.Fields(line), " ")
	for _, w := range wildcards {
		line = w.pattern.ReplaceAllString(line, w.with)
	}
	return line
}

// Check compares what the command of a step printed with its page, if the page shows an output.
func (s Step) Check(printed string) error {
	if s.Output == "" {
		return nil
	}
	if err := Compare(s.Output, printed); err != nil {
		return fmt.Errorf("line %d: %s: %w", s.Line, strings.TrimSpace(s.Command), err)
	}
	return nil
}

// Compare returns an error where a command printed something of another shape than the page shows.
// Three dots in a line of the page stand for any text; a line of three dots stands for any number
// of lines, none included.
func Compare(page, printed string) error {
	want, got := lines(page), lines(printed)
	if !matches(want, got) {
		return fmt.Errorf("the page shows\n%s\nand the command printed\n%s\ncompared as\n%s\nand\n%s",
			page, printed, strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
	return nil
}

func lines(text string) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if shape := Shape(line); shape != "" {
			out = append(out, shape)
		}
	}
	return out
}

func matches(want, got []string) bool {
	switch {
	case len(want) == 0:
		return len(got) == 0
	case want[0] == "...":
		for i := range len(got) + 1 {
			if matches(want[1:], got[i:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && alike(want[0], got[0]) && matches(want[1:], got[1:])
}

// alike compares two shapes, of which want may have dots.
func alike(want, got string) bool {
	parts := strings.Split(want, "...")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(strings.TrimSpace(parts[i]))
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(got)
}
