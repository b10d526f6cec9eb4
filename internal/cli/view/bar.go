package view

import "strings"

// Bar of a width in characters, filled by percent. Bounds: 0 to 100; what is beyond
// is taken for the bound.
func Bar(percent int32, width int) string {
	full := int(min(max(percent, 0), 100)) * width / 100
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", width-full) + "]"
}
