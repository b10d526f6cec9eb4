package view

import "strings"

// Bar returns a bar of a width in characters, filled by percent, which it clamps to 0
// to 100.
func Bar(percent int32, width int) string {
	full := int(min(max(percent, 0), 100)) * width / 100
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", width-full) + "]"
}
