// Package excerpt shortens text to what may be stored of it.
package excerpt

import (
	"strings"
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
