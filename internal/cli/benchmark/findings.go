package benchmark

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// believable returns the condition Believable, after an empty line; empty without it.
func believable(b *v1alpha1.PgBenchmark) string {
	c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionBelievable)
	if c == nil {
		return ""
	}
	return "\nBelievable: " + view.Clean(string(c.Status)+", "+c.Reason+": "+c.Message) + "\n"
}

// findings returns the condition Believable and what the checks found about the runs;
// empty if there were no checks.
func findings(b *v1alpha1.PgBenchmark, style view.Style) string {
	var out strings.Builder
	out.WriteString(believable(b))
	rows := [][]string{{"CLIENTS", "CHECK", "VERDICT", "REASON", "MESSAGE"}}
	for _, r := range b.Status.Run.Results {
		for _, f := range r.Findings {
			rows = append(rows, []string{strconv.Itoa(int(r.Clients)), f.Check, f.Verdict, f.Reason, f.Message})
		}
	}
	if len(rows) > 1 {
		out.WriteString("\n" + style.Strong("Findings about the runs") + "\n" + view.Columns(rows...))
	}
	return out.String()
}
