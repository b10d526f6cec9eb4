package benchmark

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
	"github.com/pgstorage/pgstorage/internal/testing/snapshots"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestScreensMatchGoldenFiles(t *testing.T) {
	all := snapshots.Cluster(t, "testdata/benchmarks.yaml").Benchmarks
	matrices := snapshots.Cluster(t, "testdata/matrices.yaml").Benchmarks
	var lines strings.Builder
	for i := range all {
		lines.WriteString(Line(&all[i]) + "\n" + BarLine(&all[i], 60) + "\n")
	}
	for name, text := range map[string]string{
		"list":       ListText(all, noon, true),
		"list-one":   ListText(all[:1], noon, false),
		"lines":      lines.String(),
		"result":     ResultText(&all[0], false, view.Style{}),
		"statements": ResultText(&all[0], true, view.Style{}),
		"matrices":   ListText(matrices[:2], noon, false),
		"matrix":     ResultText(&matrices[0], false, view.Style{}),
		"half-way":   ResultText(&matrices[1], false, view.Style{}),
		"unfinished": ResultText(&all[1], false, view.Style{}),
		"unstarted":  ResultText(&all[3], false, view.Style{}),
	} {
		t.Run(name, func(t *testing.T) { golden.Text(t, "testdata/"+name+".golden.txt", text) })
	}
}

func TestIsMatrixRunOnlyForRunsOfAMatrix(t *testing.T) {
	for _, b := range snapshots.Cluster(t, "testdata/matrices.yaml").Benchmarks {
		if got, want := IsMatrixRun(&b), b.Name == "half-way-r1-0a1b2c3d"; got != want {
			t.Errorf("IsMatrixRun(%s) is %v, want %v", b.Name, got, want)
		}
	}
}

func TestEndedReturnsTheFailure(t *testing.T) {
	want := map[string]struct {
		ended bool
		err   string
	}{
		"done": {true, ""}, "running": {false, ""}, "new": {false, ""},
		"failed": {true, "PgBenchmark failed: IntegrityFailed: the benchmark failed: 3 checksum failures"},
	}
	for _, b := range snapshots.Cluster(t, "testdata/benchmarks.yaml").Benchmarks {
		ended, err := Ended(&b)
		w := want[b.Name]
		if ended != w.ended || (err == nil) != (w.err == "") || err != nil && !strings.HasPrefix(err.Error(), w.err) {
			t.Errorf("Ended(%s) is %v, %v, want %v, %q", b.Name, ended, err, w.ended, w.err)
		}
	}
}

// The message of a condition has text of a script's author.
func TestEndedReturnsOneCleanLine(t *testing.T) {
	b := &v1alpha1.PgBenchmark{ObjectMeta: metav1.ObjectMeta{Name: "loud"}}
	b.Status.Phase = v1alpha1.PhaseFailed
	b.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Reason: "Failed", Message: "a\x1b[2J\nerror: b"}}
	if _, err := Ended(b); err == nil || err.Error() != "PgBenchmark loud: Failed: a [2J error: b" {
		t.Errorf("%q", err)
	}
}

func TestBarLineFitsTheTerminal(t *testing.T) {
	for _, b := range snapshots.Cluster(t, "testdata/benchmarks.yaml").Benchmarks {
		for _, width := range []int{40, 80} {
			if n := len([]rune(BarLine(&b, width))); n > width {
				t.Errorf("%s: got %d characters, want at most %d", b.Name, n, width)
			}
		}
	}
}
