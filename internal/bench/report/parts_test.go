package report

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/disturbance"
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
		"Failed (a repeat 3): no space", "Rejected ClockJumped (a repeat 2): it went", "Caution DatasetInMemory, 2 runs (a repeats 1 and 2): it fits",
		"Caution WideSpread (a): wide", "a: not checked in every repeat, because facts are missing: Flush",
	}
	g := Group{Variants: []Variant{v}}
	if diff := cmp.Diff(want, g.caveatItems()); diff != "" {
		t.Error(diff)
	}
	if got := references(g.caveatsOf(v)); got != "caveats 1, 2, 3 and 4" {
		t.Errorf("got %q", got)
	}
	if got := references(g.caveatsOfRepeat(v, 2)); got != "caveats 2 and 3" {
		t.Errorf("of repeat 2: got %q", got)
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

func TestLevelChangeIsAnEventWithItsTime(t *testing.T) {
	r := build(t, sample(t, versions...))
	for _, v := range r.Groups[1].Variants {
		if v.Name != "level" {
			continue
		}
		found := v.Repeats[0].Events
		if len(found) != 1 || found[0].Kind != disturbance.Level || found[0].From < 5*time.Second || found[0].From > 9*time.Second {
			t.Errorf("got %+v of %+v, want one change of level", found, v.Repeats[0].Levels)
		}
		return
	}
	t.Error("no variant whose level changes")
}

// A finding that 4 variants share is said once, with a count, and one that all share is not
// referred to.
func TestCaveatOfManyVariantsIsSaidOnce(t *testing.T) {
	slow := validity.Finding{Check: "Dataset", Verdict: validity.Caution, Reason: "DatasetInMemory", Message: "it fits"}
	other := validity.Finding{Check: "Clock", Verdict: validity.Caution, Reason: "NoisyNeighbours", Message: "they wait"}
	var g Group
	for i, name := range []string{"a", "b", "c", "d", "e", "f"} {
		v := Variant{Name: name, Repeats: []Repeat{{Number: 1, Counted: true, Findings: []validity.Finding{slow}}, {Number: 2, Counted: true, Findings: []validity.Finding{slow}}}}
		if i > 0 {
			v.Repeats[0].Findings = append(v.Repeats[0].Findings, other)
		}
		g.Variants = append(g.Variants, v)
	}
	want := []string{
		"Caution DatasetInMemory, 12 runs (all 6 variants): it fits",
		"Caution NoisyNeighbours, 5 runs (b repeat 1; c repeat 1; d repeat 1; 2 more variants): they wait",
	}
	if diff := cmp.Diff(want, g.caveatItems()); diff != "" {
		t.Error(diff)
	}
	if a, b := references(g.caveatsOf(g.Variants[0])), references(g.caveatsOf(g.Variants[1])); a != "" || b != "caveat 2" {
		t.Errorf("got %q and %q, want no reference to what all variants share", a, b)
	}
}

func TestTagsOfEventsAreUnique(t *testing.T) {
	known := map[string]bool{}
	for n := range 800 {
		if known[tag(n)] {
			t.Errorf("%d has the tag %s, as another", n, tag(n))
		}
		known[tag(n)] = true
	}
	if tag(0) != "A" || tag(25) != "Z" || tag(26) != "AA" {
		t.Errorf("got %s, %s, %s", tag(0), tag(25), tag(26))
	}
}

// The charts name variants by what they differ in.
func TestNamesInChartsAreDistinct(t *testing.T) {
	g := Group{Variants: []Variant{{Name: "profile=zfs clients=1"}, {Name: "profile=zfs clients=4"}, {Name: "profile=zfs"}}}
	var got []string
	for _, v := range g.Variants {
		got = append(got, g.distinct(v))
	}
	if diff := cmp.Diff([]string{"clients=1", "clients=4", "profile=zfs"}, got); diff != "" {
		t.Error(diff)
	}
}
