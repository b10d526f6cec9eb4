package faults

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// The medians of an even number of rounds are in the middle. A ratio below its mark is an error,
// whatever its interval. One above it is "not shown" while the interval reaches below.
func TestCost(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("# Cost\n<!-- cost of a backup -->\n<!-- end of cost of a backup -->\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bare := Way{Name: "without archive", TPS: []float64{2130, 2050, 2035, 1685}}
	backup := Way{Name: "during a base backup", TPS: []float64{1800, 1665, 2127, 2068}, Mark: 0.90}
	slow := Way{Name: "slow", TPS: []float64{1000, 1100, 900, 800}, Mark: 0.90}
	unsteady := Way{Name: "unsteady", TPS: []float64{1300, 2100, 2000, 1300}, Mark: 0.90}
	quick := Way{Name: "quick", TPS: []float64{2130, 2070, 2045, 1685}, Mark: 0.90}
	err := WriteCost(page, "a backup", "2026-01-02", bare, backup, slow, unsteady, quick)
	if err == nil || !strings.HasPrefix(err.Error(), "slow: 0.48") || !strings.Contains(err.Error(), "unsteady: ") {
		t.Errorf("a mark that is missed: %v", err)
	}
	const want = `# Cost
<!-- cost of a backup -->
Medians of 2026-01-02, with the ratio of pairs and its interval at 95%:

| way | rounds | TPS | lowest | highest | times as many | mark |
|---|---|---|---|---|---|---|
| without archive | 4 | 2042 | 1685 | 2130 |  |  |
| during a base backup | 4 | 1934 | 1665 | 2127 | 0.97 (0.71 to 1.32) | 0.90: not shown |
| slow | 4 | 950 | 800 | 1100 | 0.48 (0.42 to 0.55) | 0.90: MISS |
| unsteady | 4 | 1650 | 1300 | 2100 | 0.83 (0.57 to 1.22) | 0.90: MISS |
| quick | 4 | 2058 | 1685 | 2130 | 1.00 (1.00 to 1.01) | 0.90: PASS |
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
	if err := WriteCost(page, "a backup", "2026-01-02", bare, Way{Name: "shorter", TPS: bare.TPS[1:]}); !errors.Is(err, statistics.ErrNotPaired) {
		t.Errorf("rounds without pairs: %v", err)
	}
}
