package doctor

import (
	"fmt"
	"strings"

	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// stateOf has the colour of each level.
var stateOf = map[Level]view.State{OK: view.Ready, Note: view.Exists, Unknown: view.Unknown, Warning: view.Waiting, Failure: view.Stalled}

// Text formats findings by area, with a remedy and a link below each that is not OK.
func Text(findings []Finding, style view.Style) string {
	var b strings.Builder
	area := ""
	for _, f := range findings {
		if f.Area != area {
			area = f.Area
			fmt.Fprintln(&b, style.Strong(area))
		}
		level := fmt.Sprintf("%-8s", f.Level)
		fmt.Fprintf(&b, "  %s %s: %s\n", style.Paint(stateOf[f.Level], level), view.Clean(f.Subject), view.Clean(f.Message))
		const indent = "           "
		if f.Remedy != "" {
			fmt.Fprintf(&b, "%s%s\n", indent, "fix: "+view.Clean(f.Remedy))
		}
		if f.Link != "" {
			fmt.Fprintf(&b, "%s%s\n", indent, style.Faint("see "+f.Link))
		}
	}
	fmt.Fprintf(&b, "%d failures, %d warnings, %d not checked, %d OK\n", count(findings, Failure), count(findings, Warning), count(findings, Unknown), count(findings, OK))
	return b.String()
}
