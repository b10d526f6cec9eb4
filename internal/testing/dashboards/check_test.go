package dashboards

import (
	"context"
	"strings"
	"testing"
)

// A count that is 0 where nothing is found does not hide a metric that does not exist.
func TestCheckFindsWhatIsAbsent(t *testing.T) {
	there := map[string]int{`a{n="x"}`: 1, "pgstorage_a": 1, "count(pgstorage_b) or vector(0)": 1, "count(pgstorage_a) or vector(0)": 1, "ALERTS or vector(0)": 1}
	count := func(_ context.Context, expr string) (int, error) { return there[expr], nil }
	for expr, want := range map[string]string{
		`a{n="$namespace"}`:               "",
		"count(pgstorage_a) or vector(0)": "",
		"count(pgstorage_b) or vector(0)": "there is no metric pgstorage_b",
		"pgstorage_b":                     "0 series",
		"pgstorage_excepted":              "",
		"ALERTS or vector(0)":             "",
	} {
		problems, _ := Check(t.Context(), count, []Query{{"d", "p", expr}}, map[string]string{"namespace": "x"}, map[string]string{"pgstorage_excepted": "a reason"})
		if got := strings.Join(problems, "\n"); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
	if Text(nil) != nil || Text([]string{"one"}) == nil {
		t.Error("problems and no error, or the other way round")
	}
}
