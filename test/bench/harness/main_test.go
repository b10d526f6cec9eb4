package harness

import (
	"strings"
	"testing"
)

func TestOnlyANamedBenchmarkRuns(t *testing.T) {
	benchmarks := []Benchmark{{Name: "zfs", Summary: "datasets"}, {Name: "ceph"}}
	if b, err := choose(benchmarks, []string{"ceph", "-rounds", "1"}); err != nil || b.Name != "ceph" {
		t.Errorf("choose(ceph) = %q, %v", b.Name, err)
	}
	for _, args := range [][]string{nil, {"-rounds"}, {"zf"}} {
		if b, err := choose(benchmarks, args); err == nil {
			t.Errorf("choose(%q) = %q, want an error", args, b.Name)
		}
	}
	var out strings.Builder
	usage(&out, benchmarks)
	if want := "  zfs        datasets\n"; !strings.Contains(out.String(), want) {
		t.Errorf("usage is %q, want a line %q", &out, want)
	}
}
