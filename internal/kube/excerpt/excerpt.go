// Package excerpt shortens text to what may be stored of it.
package excerpt

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mark ends a text that was shortened.
const mark = "..."

// Truncate is text in at most so many bytes, and so in no more characters. It is valid
// UTF-8, whatever a program printed, because JSON can hold no other.
func Truncate(text string, most int) string {
	text, most = strings.ToValidUTF8(text, string(utf8.RuneError)), max(most, 0)
	if len(text) <= most {
		return text
	}
	if most < len(mark) {
		return whole(text, most)
	}
	return whole(text, most-len(mark)) + mark
}

// whole characters that begin a longer text, in at most so many bytes.
func whole(text string, most int) string {
	for !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// LastLine is the last line of a text that is not blank, in at most so many bytes. A
// program wrote the text, and users read it in a condition. LastLine drops characters that
// control a terminal or the direction of writing, and joins words by one space.
func LastLine(text string, most int) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range slices.Backward(lines) {
		if line := printable(line); line != "" {
			return Truncate(line, most)
		}
	}
	return ""
}

// printable words of one line.
func printable(line string) string {
	line = strings.ToValidUTF8(line, string(utf8.RuneError))
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, line)), " ")
}

// Names are at most so many of a list, and how many more there are.
func Names(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
