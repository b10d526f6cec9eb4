package faults

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The medians of an even number of rounds are in the middle; a mark that is missed says so.
func TestCost(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("# Cost\n<!-- cost of a backup -->\n<!-- end of cost of a backup -->\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bare := Way{Name: "without archive", TPS: []float64{2130, 2050, 2035, 1685}}
	backup := Way{Name: "during a base backup", TPS: []float64{1800, 1665, 2127, 2068}, Mark: 0.90}
	slow := Way{Name: "slow", TPS: []float64{1000}, Mark: 0.90}
	if err := WriteCost(page, "a backup", "2026-01-02", bare, backup, slow); err != nil {
		t.Fatal(err)
	}
	const want = `# Cost
<!-- cost of a backup -->
Medians of 2026-01-02:

| way | TPS | lowest | highest | times as many | mark |
|---|---|---|---|---|---|
| without archive | 2042 | 1685 | 2130 | 1.00 |  |
| during a base backup | 1934 | 1665 | 2127 | 0.95 | 0.90: PASS |
| slow | 1000 | 1000 | 1000 | 0.49 | 0.90: MISS |
<!-- end of cost of a backup -->
`
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if err := WriteCost("", "nothing", "2026-01-02", Way{Name: "no round"}); err == nil {
		t.Error("a way without rounds has no error")
	}
}
