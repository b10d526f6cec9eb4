// Package golden compares output with files that people have reviewed. Run a test with
// the flag -update to write the files again.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/internal/kube/plan"
)

var update = flag.Bool("update", false, "write the golden files again")

// Plan compares a plan's YAML with testdata/NAME.golden.yaml of the test's
// package.
func Plan(t *testing.T, name string, p *plan.Plan) {
	t.Helper()
	got, err := p.YAML()
	if err != nil {
		t.Fatal(err)
	}
	Text(t, filepath.Join("testdata", name+".golden.yaml"), got)
}

// Text compares text with the file of a path within the test's package.
func Text(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got). If the change is intended, run go test with -update\n%s", path, diff)
	}
}
