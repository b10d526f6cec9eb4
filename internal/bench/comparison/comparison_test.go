package comparison

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

const (
	local  = v1alpha1.DurabilityLocal
	async  = v1alpha1.DurabilityAsync
	quorum = v1alpha1.DurabilityQuorum

	ephemeral = v1alpha1.DurabilityEphemeral
)

// repeats of a variant, from the first on.
func repeats(values ...float64) map[int]float64 {
	numbered := map[int]float64{}
	for i, v := range values {
		numbered[i+1] = v
	}
	return numbered
}

// matrix of two tiers and two client counts, as a 2 x 2 matrix yields it.
func matrix() []Sample {
	return []Sample{
		{"async 1", async, repeats(1510, 1490, 1502, 1497, 1505)},
		{"local 1", local, repeats(301, 299, 303, 298, 300)},
		{"async 8", async, repeats(6020, 5990, 6045, 5970, 6010)},
		{"local 8", local, repeats(1203, 1197, 1210, 1190, 1201)},
		{"local failed", local, nil},
	}
}

func groups(t *testing.T, figure Figure, results ...Sample) []Group {
	t.Helper()
	all, err := ByTier(figure, results)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestTiersStayApart(t *testing.T) {
	all := groups(t, TPS, matrix()...)
	var got [][]string
	for _, g := range all {
		places, differences := g.Ranking()
		names := []string{string(g.Tier())}
		for _, p := range places {
			names = append(names, p.Variant)
		}
		got = append(got, names)
		for _, d := range differences {
			if strings.Fields(d.Baseline)[0] != strings.Fields(d.Variant)[0] {
				t.Errorf("compared across tiers: %s", d.Message)
			}
		}
	}
	if diff := cmp.Diff([][]string{{"Local", "local 8", "local 1"}, {"Async", "async 8", "async 1"}}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := all[0].Against("async 1"); err == nil || !strings.Contains(err.Error(), `no results with durability Local`) {
		t.Errorf("a baseline of another tier: %v", err)
	}
}

// A result of a database that keeps nothing is compared with its own kind alone.
func TestEphemeralIsATierOfItsOwn(t *testing.T) {
	results := append(matrix(), Sample{"memory 8", ephemeral, repeats(9010, 9020, 9000)}, Sample{"memory 1", ephemeral, repeats(2010, 2020, 2000)})
	var got []v1alpha1.DurabilityTier
	for _, g := range groups(t, TPS, results...) {
		got = append(got, g.Tier())
		if g.Tier() == ephemeral && !slices.Equal(g.Variants(), []string{"memory 8", "memory 1"}) || g.Tier() != ephemeral && g.index("memory 8") >= 0 {
			t.Errorf("%s has %q", g.Tier(), g.Variants())
		}
	}
	if diff := cmp.Diff([]v1alpha1.DurabilityTier{local, async, ephemeral}, got); diff != "" {
		t.Error(diff)
	}
	for _, other := range []v1alpha1.DurabilityTier{quorum, local, async} {
		d := Between(TPS, "last week", []Sample{{"x", other, repeats(1, 2, 3)}}, []Sample{{"x", ephemeral, repeats(1, 2, 3)}})
		if len(d) != 1 || d[0].Verdict != NotComparable || !strings.Contains(d[0].Message, "not Ephemeral, and tiers are not compared") {
			t.Errorf("%s: %+v", other, d)
		}
	}
}

func TestByTierRefuses(t *testing.T) {
	if _, err := ByTier(TPS, []Sample{{"x", "", repeats(1)}}); !errors.Is(err, ErrUnknownTier) {
		t.Error(err)
	}
	if _, err := ByTier(TPS, []Sample{{"x", local, repeats(1)}, {"x", async, repeats(1)}}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Error(err)
	}
	if got := groups(t, TPS); len(got) != 0 {
		t.Error(got)
	}
}

func TestVerdicts(t *testing.T) {
	baseline := Sample{"base", quorum, repeats(1000, 1010, 990, 1005, 995)}
	for name, tc := range map[string]struct {
		figure  Figure
		values  map[int]float64
		want    Conclusion
		message string
	}{
		"faster":             {TPS, repeats(1101, 1109, 1091, 1104, 1096), Better, "TPS of other is +10.0% relative to base: 95% interval +"},
		"slower":             {TPS, repeats(901, 907, 893, 903, 897), Worse, "TPS of other is -10.0% relative to base"},
		"longer":             {LatencyP99, repeats(1101, 1109, 1091, 1104, 1096), Worse, "p99 latency of other is +10.0%"},
		"shorter":            {LatencyP99, repeats(901, 907, 893, 903, 897), Better, "p99 latency of other is -10.0%"},
		"the same":           {TPS, repeats(1003, 1001, 996, 1009, 990), NoDifference, "no difference in TPS can be claimed between other and base: 95% interval -"},
		"too few":            {TPS, repeats(1100, 1110), NotComparable, "other cannot be compared with base: a comparison needs at least 3 repeats of each"},
		"nothing went":       {TPS, repeats(0, 0, 0), NotComparable, "a ratio needs values above zero"},
		"pairs of what both": {TPS, map[int]float64{2: 1109, 3: 1091, 5: 1096}, Better, "PairedT, 2 degrees"},
		"no common repeats":  {TPS, map[int]float64{6: 1109, 7: 1091, 8: 1096}, Better, "WelchT"},
	} {
		differences, err := groups(t, tc.figure, baseline, Sample{"other", quorum, tc.values})[0].Against("base")
		if err != nil || len(differences) != 1 {
			t.Fatalf("%s: %v %v", name, err, differences)
		}
		if d := differences[0]; d.Verdict != tc.want || !strings.Contains(d.Message, tc.message) {
			t.Errorf("%s: %s: %s", name, d.Verdict, d.Message)
		}
	}
}

// What one comparison may claim, one of many may not.
func TestManyComparisonsAreCorrected(t *testing.T) {
	results := []Sample{
		{"base", local, repeats(1000, 1010, 990, 1005, 995)},
		{"a", local, repeats(1012, 1013, 1008, 1011, 1010)},
	}
	alone, err := groups(t, TPS, results...)[0].Against("base")
	if err != nil || alone[0].Verdict != Better {
		t.Fatalf("%v: %s", err, alone[0].Message)
	}
	for _, name := range []string{"b", "c", "d", "e", "f", "g"} {
		results = append(results, Sample{name, local, repeats(1003, 1001, 996, 1009, 990)})
	}
	among, err := groups(t, TPS, results...)[0].Against("base")
	if err != nil || among[0].Verdict != NoDifference || !strings.Contains(among[0].Message, "corrected for 7 comparisons") {
		t.Errorf("%v: %s", err, among[0].Message)
	}
}

func TestRankingSharesPlaces(t *testing.T) {
	group := groups(t, TPS,
		Sample{"slow", local, repeats(500, 505, 495, 503, 497)},
		Sample{"good", local, repeats(1000, 1010, 990, 1005, 995)},
		Sample{"as good", local, repeats(1003, 1001, 996, 1009, 990)},
	)[0]
	places, differences := group.Ranking()
	type row struct {
		Variant string
		Rank    int
		Better  int
	}
	var got []row
	for _, p := range places {
		got = append(got, row{p.Variant, p.Rank, len(p.BetterThan)})
	}
	if diff := cmp.Diff([]row{{"as good", 1, 1}, {"good", 1, 1}, {"slow", 3, 0}}, got); diff != "" {
		t.Error(diff)
	}
	if len(differences) != 3 {
		t.Errorf("%d differences of three variants", len(differences))
	}
	lower := groups(t, LatencyP99, Sample{"long", local, repeats(9, 9.1, 8.9)}, Sample{"short", local, repeats(1, 1.1, 0.9)})[0]
	if places, _ := lower.Ranking(); places[0].Variant != "short" {
		t.Errorf("%+v", places)
	}
}

func TestBeyondAShare(t *testing.T) {
	base := Sample{"base", local, repeats(1000, 1010, 990, 1005, 995)}
	of := func(figure Figure, values ...float64) Difference {
		differences, err := groups(t, figure, base, Sample{"other", local, repeats(values...)})[0].Against("base")
		if err != nil {
			t.Fatal(err)
		}
		return differences[0]
	}
	same := of(TPS, 1001, 1009, 991, 1004, 996)
	if same.BeyondAt(0, 0.95, 1) {
		t.Errorf("%+v", same.Comparison)
	}
	slower := of(TPS, 901, 907, 893, 903, 897)
	if !slower.BeyondAt(0.05, 0.95, 1) || slower.BeyondAt(0.11, 0.95, 1) || slower.BeyondAt(-1, 0.95, 1) {
		t.Errorf("%+v", slower.Comparison)
	}
	if longer := of(LatencyP99, 1101, 1109, 1091, 1104, 1096); !longer.BeyondAt(0.05, 0.95, 1) || longer.BeyondAt(0.11, 0.95, 1) {
		t.Errorf("%+v", longer.Comparison)
	}
}

func TestBeyondAtAnotherConfidence(t *testing.T) {
	base := Sample{"base", local, repeats(1000, 1010, 990, 1005, 995)}
	of := func(values ...float64) Difference {
		differences, err := groups(t, TPS, base, Sample{"other", local, repeats(values...)})[0].Against("base")
		if err != nil {
			t.Fatal(err)
		}
		return differences[0]
	}
	slower := of(901, 907, 893, 903, 897)
	// The interval at 95% is 0.8984 to 0.9013 about, that of 99% is wider.
	upper := slower.Comparison.IntervalAt(0.99).Upper
	if upper <= slower.Comparison.Interval.Upper || slower.BeyondAt(1-upper+0.0001, 0.99, 1) || !slower.BeyondAt(1-upper-0.0001, 0.99, 1) {
		t.Errorf("upper bound at 99 %%: %v, at 95 %%: %v", upper, slower.Comparison.Interval.Upper)
	}
	// Five comparisons at 95% together are one at 99%.
	if !slower.BeyondAt(1-upper-0.0001, 0.95, 5) || slower.BeyondAt(1-upper+0.0001, 0.95, 5) {
		t.Error("the interval of several comparisons is not corrected")
	}
	if slower.ExcludesAt(0.05, 0.95, 1) || !slower.ExcludesAt(0.15, 0.95, 1) {
		t.Error("what is excluded is what the worse end does not reach")
	}
	if faster := of(1101, 1109, 1091, 1104, 1096); faster.BeyondAt(0, 0.95, 1) || !faster.ExcludesAt(0, 0.99, 1) {
		t.Error("an improvement is no regression")
	}
	if few := of(1, 2); few.BeyondAt(0, 0.95, 1) || few.ExcludesAt(0.99, 0.8, 1) {
		t.Error("what cannot be compared is bounded")
	}
}

func TestBetween(t *testing.T) {
	before := []Sample{
		{"same", local, repeats(1000, 1010, 990, 1005, 995)},
		{"slower", local, repeats(1000, 1010, 990, 1005, 995)},
		{"tier", local, repeats(1, 2, 3)},
		{"few", local, repeats(1, 2, 3)},
		{"gone", local, repeats(1, 2, 3)},
	}
	now := []Sample{
		{"same", local, repeats(1000, 1010, 990, 1005, 995)},
		{"slower", local, repeats(900, 909, 891, 904.5, 895.5)},
		{"tier", async, repeats(1, 2, 3)},
		{"few", local, repeats(1, 2)},
		{"new", local, repeats(1, 2, 3)},
	}
	want := map[string]struct {
		verdict Conclusion
		says    string
	}{
		"same":   {NoDifference, "no difference in TPS can be claimed between same and last week: "},
		"slower": {Worse, "TPS of slower is -10.0% relative to last week: "},
		"tier":   {NotComparable, "tier cannot be compared with last week: the baseline has durability Local, not Async"},
		"few":    {NotComparable, "few cannot be compared with last week: "},
		"new":    {NotComparable, "new cannot be compared with last week: the baseline has no such variant"},
		"gone":   {NotComparable, "gone of last week was not measured"},
	}
	got := Between(TPS, "last week", before, now)
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for _, d := range got {
		if w := want[d.Variant]; d.Verdict != w.verdict || !strings.HasPrefix(d.Message, w.says) {
			t.Errorf("%+v", d)
		}
		// The repeats of two benchmarks are not paired, though they have the same numbers:
		// these would differ without any spread.
		if d.Comparison != nil && d.Comparison.Test != statistics.WelchT {
			t.Errorf("%s by %s", d.Variant, d.Comparison.Test)
		}
	}
	if !strings.Contains(got[1].Message, "corrected for 2 comparisons") {
		t.Errorf("%s", got[1].Message)
	}
}

func TestInverseOfADifference(t *testing.T) {
	groups, err := ByTier(TPS, []Sample{
		{Variant: "a", Tier: "Local", Values: map[int]float64{1: 100, 2: 101, 3: 102, 4: 100}},
		{Variant: "b", Tier: "Local", Values: map[int]float64{1: 200, 2: 203, 3: 205, 4: 199}},
	})
	if err != nil {
		t.Fatal(err)
	}
	forth := groups[0].Pairs()[0]
	back := forth.Inverse()
	if forth.Verdict != Better || back.Verdict != Worse || back.Baseline != "b" || back.Variant != "a" {
		t.Errorf("got %+v, want b better than a and a worse than b", back)
	}
	if math.Abs(back.Comparison.Ratio*forth.Comparison.Ratio-1) > 1e-12 || back.Comparison.Interval.Lower > back.Comparison.Ratio || back.Comparison.Ratio > back.Comparison.Interval.Upper {
		t.Errorf("got %+v as the inverse of %+v", back.Comparison, forth.Comparison)
	}
	if again := back.Inverse(); again.Verdict != Better || math.Abs(again.Comparison.Ratio-forth.Comparison.Ratio) > 1e-12 {
		t.Errorf("got %+v as the inverse of the inverse", again)
	}
}
