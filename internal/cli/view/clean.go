package view

import (
	"strings"
	"unicode"
)

// Clean makes foreign text safe for one line of a terminal. It replaces characters that
// move the cursor, change colours or begin a new line with spaces.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// CleanLines cleans each line of a text as [Clean] does.
func CleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Clean(line)
	}
	return strings.Join(lines, "\n")
}
