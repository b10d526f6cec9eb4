package pgbench

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseProgress(t *testing.T) {
	for line, want := range map[string]Progress{
		"progress: 1.0 s, 9737.7 tps, lat 0.204 ms stddev 0.249, 0 failed": {
			At: time.Second, TPS: 9737.7, LatencyAvg: 0.204, LatencyStddev: 0.249,
		},
		"progress: 5.0 s, 812.2 tps, lat 4.900 ms stddev 1.200, 3 failed, lag 0.168 ms, 98 skipped": {
			At: 5 * time.Second, TPS: 812.2, LatencyAvg: 4.9, LatencyStddev: 1.2, Failed: 3, Lag: 0.168, Skipped: 98,
		},
		"progress: 1.0 s, 4614.1 tps, lat 0.852 ms stddev 1.848, 0 failed, 1376 retried, 5492 retries": {
			At: time.Second, TPS: 4614.1, LatencyAvg: 0.852, LatencyStddev: 1.848, Retried: 1376, Retries: 5492,
		},
		"progress: 2.0 s, 0.0 tps, lat -nan ms stddev -nan, 0 failed, 7 meteorites": {At: 2 * time.Second},
	} {
		got, ok := ParseProgress(line)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%s: %v %s", line, ok, diff)
		}
	}
}

func TestParseProgressRefuses(t *testing.T) {
	for _, line := range []string{
		"", "starting vacuum...end.", "progress: ", "progress: soon s, 1 tps", "progress: -1 s, 1 tps", "progress: 1e300 s",
		"progress: 1.0 s, fast tps", "progress: 1.0 s, 1 tps, lat 1", "progress: 1.0 s, 1 tps, x failed", "progress: 1.0 s, 1 tps, lag x ms",
	} {
		if p, ok := ParseProgress(line); ok {
			t.Errorf("%q was read as %+v", line, p)
		}
	}
}

// The parsers accept those lines of stderr that pgbench wrote as progress, and no others.
func TestRecordedStderr(t *testing.T) {
	for _, path := range recorded(t, "*.err.txt") {
		for line := range strings.SplitSeq(strings.TrimSuffix(read(t, path), "\n"), "\n") {
			_, progress := ParseProgress(line)
			_, initialising := ParseInitProgress(line)
			if strings.HasPrefix(line, "progress:") != progress {
				t.Errorf("%s: progress %v: %s", path, progress, line)
			}
			if strings.Contains(line, "tuples (") != (initialising && strings.Contains(line, "%")) {
				t.Errorf("%s: initialising %v: %s", path, initialising, line)
			}
		}
	}
}

func TestParseInitProgress(t *testing.T) {
	for line, want := range map[string]InitProgress{
		"dropping old tables...":   {Step: "dropping old tables"},
		"creating primary keys...": {Step: "creating primary keys"},
		"100000 of 300000 tuples (33%) done (elapsed 0.05 s, remaining 0.09 s)":                       {Step: "generating data", Percent: 33},
		"100000 of 300000 tuples (33%) of pgbench_accounts done (elapsed 0.05 s, remaining 0.09 s)\r": {Step: "generating data", Percent: 33},
		"done in 0.19 s (drop tables 0.00 s, create tables 0.00 s).":                                  {Step: "done", Done: true},
	} {
		got, ok := ParseInitProgress(line)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%s: %v %s", line, ok, diff)
		}
	}
	for _, line := range []string{"", "...", "NOTICE:  table missing...", "1 of 2 tuples (x%) done", "1 of 2 tuples (900%) done", "starting vacuum...end."} {
		if got, ok := ParseInitProgress(line); ok {
			t.Errorf("%q was read as %+v", line, got)
		}
	}
}
