package view

import (
	"fmt"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"
)

// Columns aligns rows as kubectl does. It cleans the cells, which must have no colours
// because the bytes of a colour count as width.
func Columns(rows ...[]string) string {
	var b strings.Builder
	w := printers.GetNewTabWriter(&b)
	for _, row := range rows {
		clean := make([]string, len(row))
		for i, cell := range row {
			clean[i] = Clean(cell)
		}
		// Writing to a strings.Builder cannot fail.
		_, _ = fmt.Fprintln(w, strings.Join(clean, "\t"))
	}
	_ = w.Flush()
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return out.String()
}

// Or returns text, or a dash if it is empty.
func Or(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
