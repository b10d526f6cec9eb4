//go:build zerofs && linux

package supervise_test

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var reportFile = flag.String("report", "", "measure, and write the tables between their markers in this file")

// reportTo skips what takes minutes where nobody wants its figures.
func reportTo(t *testing.T) func(name, table string) {
	t.Helper()
	if *reportFile == "" {
		t.Skip("needed: -report FILE")
	}
	return func(name, table string) {
		t.Helper()
		raw, err := os.ReadFile(*reportFile)
		if err != nil {
			t.Fatal(err)
		}
		begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
		before, rest, found := strings.Cut(string(raw), begin)
		_, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Fatalf("%s has no place for %s", *reportFile, name)
		}
		if err := os.WriteFile(*reportFile, []byte(before+begin+table+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
