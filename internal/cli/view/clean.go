package view

import (
	"strings"
	"unicode"
)

// Clean text of somebody else for one line of a terminal: what would move the cursor,
// change colours or begin a new line becomes a space.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}
