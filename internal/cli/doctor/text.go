package doctor

import (
	"fmt"
	"strings"

	"github.com/pgstorage/pgstorage/internal/cli/view"
)

var looks = map[Level]view.State{OK: view.Ready, Note: view.Exists, Unknown: view.Unknown, Warning: view.Waits, Failure: view.Stalled}

// Text of findings, by area; a remedy and a link stand beneath what is not OK.
func Text(findings []Finding, style view.Style) string {
	var b strings.Builder
	area := ""
	for _, f := range findings {
		if f.Area != area {
			area = f.Area
			fmt.Fprintln(&b, style.Strong(area))
		}
		level := fmt.Sprintf("%-8s", f.Level)
		fmt.Fprintf(&b, "  %s %s: %s\n", style.Paint(looks[f.Level], level), view.Clean(f.Subject), view.Clean(f.Message))
		const indent = "           "
		if f.Remedy != "" {
			fmt.Fprintf(&b, "%s%s\n", indent, "to do: "+view.Clean(f.Remedy))
		}
		if f.Link != "" {
			fmt.Fprintf(&b, "%s%s\n", indent, style.Faint("see "+f.Link))
		}
	}
	fmt.Fprintf(&b, "%d failures, %d warnings, %d not looked at, %d OK\n", count(findings, Failure), count(findings, Warning), count(findings, Unknown), count(findings, OK))
	return b.String()
}
