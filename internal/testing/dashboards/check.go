package dashboards

import (
	"context"
	"fmt"
	"strings"
)

// Count returns how many series an expression has now.
type Count func(ctx context.Context, expr string) (int, error)

// Check returns what is wrong: queries without a series, and metrics in them that do not
// exist. A count that is 0 where nothing is found would hide the second. Except has the
// metrics that cannot exist where the queries run, with the reason. Check leaves out
// queries with one of them.
func Check(ctx context.Context, count Count, queries []Query, variables, except map[string]string) (problems []string, checked int) {
	exists := map[string]bool{}
	for _, q := range queries {
		if excepted(q.Expr, except) {
			continue
		}
		checked++
		expr := q.With(variables)
		if n, err := count(ctx, expr); err != nil || n == 0 {
			problems = append(problems, fmt.Sprintf("%s, %s: %d series, %v: %s", q.Dashboard, q.Panel, n, err, expr))
		}
		for _, name := range Present(expr) {
			if _, known := exists[name]; !known {
				n, err := count(ctx, name)
				exists[name] = err == nil && n > 0
			}
			if !exists[name] {
				problems = append(problems, fmt.Sprintf("%s, %s: there is no metric %s", q.Dashboard, q.Panel, name))
			}
		}
	}
	return problems, checked
}

func excepted(expr string, except map[string]string) bool {
	for _, name := range Metrics(expr) {
		if _, found := except[name]; found {
			return true
		}
	}
	return false
}

// Text of problems, one a line.
func Text(problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("%d problems:\n%s", len(problems), strings.Join(problems, "\n"))
}
