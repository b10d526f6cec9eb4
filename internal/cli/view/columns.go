package view

import (
	"fmt"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"
)

// Columns sets rows as kubectl does. Cells are cleaned, and without colour: its bytes
// would count as width.
func Columns(rows ...[]string) string {
	var b strings.Builder
	w := printers.GetNewTabWriter(&b)
	for _, row := range rows {
		clean := make([]string, len(row))
		for i, cell := range row {
			clean[i] = Clean(cell)
		}
		// A strings.Builder takes everything.
		_, _ = fmt.Fprintln(w, strings.Join(clean, "\t"))
	}
	_ = w.Flush()
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return out.String()
}

// Or returns text, or a dash in its place.
func Or(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
