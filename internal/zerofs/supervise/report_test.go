//go:build zerofs && linux

package supervise_test

import (
	"flag"
	"testing"

	"github.com/pgstorage/pgstorage/internal/testing/document"
)

var reportFile = flag.String("report", "", "measure, and write the tables between their markers in this file")

// reportTo skips what takes minutes where no caller wants its figures.
func reportTo(t *testing.T) func(name, table string) {
	t.Helper()
	if *reportFile == "" {
		t.Skip("needed: -report FILE")
	}
	return func(name, table string) {
		t.Helper()
		place := document.Place{Begin: "<!-- " + name + " -->", End: "<!-- end of " + name + " -->"}
		if err := place.Write(*reportFile, table); err != nil {
			t.Fatal(err)
		}
	}
}
