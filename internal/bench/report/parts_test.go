package report

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/fingerprint"
	"github.com/pgstorage/pgstorage/internal/bench/histogram"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

func TestOnlyLayersWithSeparateIntervalsHaveAShare(t *testing.T) {
	want := "transaction takes 40.84 ms [40.34, 41.34]: device 25%, WAL flush 24%, transaction 51%. " +
		"No separate cost can be claimed for filesystem: its interval overlaps that of the layer below."
	if got := attribution(layers(t)); got != want {
		t.Errorf("%s", got)
	}
	if got := attribution(layers(t)[:1]); got != "" {
		t.Errorf("of one layer: %s", got)
	}
	alone := []LayerSummary{{Name: "a", Time: summary(t, 1)}, {Name: "b", Over: "a", Time: summary(t, 2)}}
	if got := attribution(alone); strings.Contains(got, "b 50%") {
		t.Errorf("claimed without an interval: %s", got)
	}
}

func TestSettingsAreComparedWithTheFirstVariant(t *testing.T) {
	settings := func(kernel, buffers string) fingerprint.Settings {
		s := fingerprint.Settings{}
		s.Set(fingerprint.Kernel, "release", kernel)
		if buffers != "" {
			s.Set(fingerprint.Postgres, "shared_buffers", buffers)
		}
		return s
	}
	varied := map[fingerprint.Group][]string{fingerprint.Postgres: {"shared_buffers"}}
	for want, known := range map[string][]read{
		"No settings were read back":     nil,
		"There is one variant":           {{"a", settings("6.1", "")}},
		"All settings are the same":      {{"a", settings("6.1", "1GB")}, {"b", settings("6.1", "1GB")}},
		"The settings differ only where": {{"a", settings("6.1", "1GB")}, {"b", settings("6.1", "2GB")}},
		"The settings differ beyond":     {{"a", settings("6.1", "1GB")}, {"b", settings("6.2", "")}},
	} {
		var s Settings
		s.compare(known, varied)
		if got := s.sentence(); !strings.HasPrefix(got, want) {
			t.Errorf("want %q, got %q", want, got)
		}
	}
	var s Settings
	s.compare([]read{{"a", settings("6.1", "1GB")}, {"b", settings("6.2", "")}}, varied)
	gb, old, recent := "1GB", "6.1", "6.2"
	want := Settings{
		Variants:  []string{"a", "b"},
		Different: []Setting{{fingerprint.Postgres, "shared_buffers", []*string{&gb, nil}}, {fingerprint.Kernel, "release", []*string{&old, &recent}}},
		Messages:  []string{"b compared with a: settings differ beyond what the benchmark varies: Kernel release: 6.1, 6.2"},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
	s.Unknown = []string{"c"}
	if got := s.sentence(); !strings.HasPrefix(got, "The settings of c were not read back") {
		t.Error(got)
	}
}

func TestSharedFindingsAreListedOnceWithRejectionsFirst(t *testing.T) {
	caution := validity.Finding{Check: "Dataset", Verdict: validity.Caution, Reason: "DatasetInMemory", Message: "it fits"}
	rejected := validity.Finding{Check: "Clock", Verdict: validity.Rejected, Reason: "ClockJumped", Message: "it went"}
	v := Variant{
		Name: "a", Agreement: validity.Finding{Verdict: validity.Caution, Reason: "WideSpread", Message: "wide"},
		Repeats: []Repeat{
			{Number: 1, Counted: true, Findings: []validity.Finding{caution, {Check: "Flush", Verdict: validity.NotRun}}},
			{Number: 2, Findings: []validity.Finding{caution, rejected}},
			{Number: 3, Failure: "no space"},
		},
	}
	if got, want := v.flagged(), "Failed (repeat 3); Rejected ClockJumped (repeat 2); Caution DatasetInMemory (repeats 1 and 2); Caution WideSpread"; got != want {
		t.Error(got)
	}
	want := []string{
		"a: Failed (repeat 3)", "a: Rejected ClockJumped (repeat 2): it went", "a: Caution DatasetInMemory (repeats 1 and 2). Repeat 1: it fits",
		"a: Caution WideSpread: wide", "a: not checked in every repeat, because facts are missing: Flush",
	}
	g := Group{Variants: []Variant{v}}
	if diff := cmp.Diff(want, g.caveatItems()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]exclusion{{"a", 2, "Rejected ClockJumped: it went"}, {"a", 3, "Failed: no space"}}, g.exclusions()); diff != "" {
		t.Error(diff)
	}
}

func TestGaugeShowsMeanAndIntervalOnOneScale(t *testing.T) {
	s := statistics.Summary{Mean: 50, Interval: &statistics.Interval{Lower: 25, Upper: 100}}
	if got := gauge(s, 100); got != "          ├─────────●──────────────────┤" {
		t.Errorf("%q", got)
	}
	if got := gauge(statistics.Summary{Mean: 100}, 100); got != strings.Repeat(" ", 39)+"●" {
		t.Errorf("%q", got)
	}
	below := statistics.Summary{Mean: 0, Interval: &statistics.Interval{Lower: -10, Upper: 10}}
	if got := []rune(gauge(below, 100)); len(got) != gaugeWidth || got[0] != '●' {
		t.Errorf("%q", string(got))
	}
}

func TestSparklineKeepsTheLowestOfNeighbours(t *testing.T) {
	var all []Second
	for _, tps := range []float64{0, 12.5, 50, 99, 100} {
		all = append(all, Second{TPS: tps})
	}
	if got := sparkline(all, 100); got != "▁▂▅██" {
		t.Error(got)
	}
	// A stall of one second among many is seen.
	long := make([]Second, 600)
	for i := range long {
		long[i].TPS = 100
	}
	long[333].TPS = 0
	if got := sparkline(long, 100); strings.Count(got, "▁") != 1 || len([]rune(got)) != sparklineWidth {
		t.Error(got)
	}
}

func TestSecondsWithoutFiniteFiguresAreSkipped(t *testing.T) {
	told := []pgbench.Progress{{At: time.Second, TPS: 5, LatencyAvg: 2}, {At: 2 * time.Second, TPS: math.NaN()}, {At: 3 * time.Second, TPS: 7}}
	if diff := cmp.Diff([]Second{{1, 5, 2}, {3, 7, 0}}, seconds([]float64{5, math.NaN(), 7}, told)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Second{{1, 5, 0}, {2, 6, 0}}, seconds([]float64{5, 6}, nil)); diff != "" {
		t.Error(diff)
	}
}

func TestPercentileAboveTheLatenciesOfARepeatIsOmitted(t *testing.T) {
	run := func(n int) analysis.Trial {
		h := histogram.New()
		for i := range n {
			if err := h.Record(int64(1000 * (i + 1))); err != nil {
				t.Fatal(err)
			}
		}
		return analysis.Trial{Latencies: h}
	}
	var got []float64
	all, err := percentiles([]analysis.Trial{run(1000), run(100), {}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		got = append(got, p.Percent)
	}
	if diff := cmp.Diff([]float64{50, 90, 95, 99}, got); diff != "" {
		t.Error(diff)
	}
	if mean := all[0].Latency.Mean; math.Abs(mean-275) > 1 || all[0].Latency.N != 2 {
		t.Errorf("%+v", all[0])
	}
}

func TestVariantsInTheSamePlaceGetFacetsOfTheirOwn(t *testing.T) {
	r := build(t, sample(t, versions...))
	facets := r.facets(r.Groups[0])
	if len(facets) != 1 || facets[0].fixed != "" || facets[0].rows.Name != "version" || facets[0].columns.Name != "clients" {
		t.Fatalf("%+v", facets)
	}
	if v := facets[0].variants[1][0]; v == nil || v.Name != "18 Local-1" {
		t.Errorf("%+v", v)
	}
	// Another variant in the same place has a facet of its own.
	twice := append([]Variant{}, r.Groups[0].Variants...)
	twice = append(twice, Variant{Name: "again", Values: twice[0].Values})
	if facets := r.facets(Group{Variants: twice}); len(facets) != 2 {
		t.Errorf("%d facets", len(facets))
	}
}

func TestLevelChangeHasItsTime(t *testing.T) {
	r := build(t, sample(t, versions...))
	for _, v := range r.Groups[1].Variants {
		if v.Name != "level" {
			continue
		}
		if at := v.Repeats[0].changes(); len(at) != 1 || at[0] < 5 || at[0] > 9 {
			t.Errorf("%v of %+v", at, v.Repeats[0].Levels)
		}
		return
	}
	t.Error("no variant whose level changes")
}
