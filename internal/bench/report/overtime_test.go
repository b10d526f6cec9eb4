package report

import (
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/bench/report/chart"
)

// Each chart over time names the mean of what it shows.
func TestRunsOverTimeNameTheirMeans(t *testing.T) {
	v := Variant{Name: "clients=4", Repeats: []Repeat{{
		Number: 1, Counted: true, TPS: 1182, LatencyAverage: 3.296,
		Seconds: []Second{{At: 1, TPS: 1100, Latency: 3}, {At: 2, TPS: 1200, Latency: 4}},
	}}}
	var charts []chart.Chart
	var s sketch
	Group{}.addRuns(&charts, v, &s)
	if s.err != nil || len(charts) != 2 {
		t.Fatalf("%d charts, %v", len(charts), s.err)
	}
	for i, want := range []string{"repeat 1: mean 1182 TPS", "repeat 1: mean 3.296 ms"} {
		if svg := charts[i].Element("c"); !strings.Contains(svg, want) {
			t.Errorf("%s has no %q", charts[i].Title, want)
		}
	}
}
