package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// steady runs of a variant, five with a little spread, another one for each of a, b
// and c with the same mean.
func steady(variant string, tier v1alpha1.DurabilityTier, tps float64) []analysis.Trial {
	var runs []analysis.Trial
	for repeat := 1; repeat <= 5; repeat++ {
		runs = append(runs, analysis.Trial{
			Variant: variant, Repeat: repeat, Tier: tier,
			Result: &pgbench.Result{TPS: tps * (1 + float64(int(variant[0])*repeat%5)/500), Clients: 4, Counts: pgbench.Counts{Transactions: 1000}, Latency: pgbench.Latency{LatencyAvg: 4000 / tps}},
		})
	}
	return runs
}

func of5(t testing.TB, runs ...[]analysis.Trial) Report {
	t.Helper()
	all := slices.Concat(runs...)
	return build(t, Input{About: About{Name: "x"}, Analysis: mustAnalyse(t, all), Runs: all})
}

func TestEveryFormStatesTheConclusion(t *testing.T) {
	const local, async = v1alpha1.DurabilityLocal, v1alpha1.DurabilityAsync
	two := steady("b", local, 1000)[:2]
	for want, r := range map[string]Report{
		"No difference in TPS can be claimed between a and b.":                                 of5(t, steady("a", local, 1000), steady("b", local, 1000)),
		"a has the highest TPS, significantly more than b.":                                    of5(t, steady("b", local, 900), steady("a", local, 1000)),
		"No difference in TPS can be claimed between the leading variants, a and b.":           of5(t, steady("a", local, 1000), steady("b", local, 1000), steady("c", local, 500)),
		"The figures of a count. 8 checks did not run because facts are missing.":              of5(t, steady("a", local, 1000), steady("b", async, 4000)),
		"Only a has counted repeats, so there is nothing to compare.":                          of5(t, steady("a", local, 1000), []analysis.Trial{{Variant: "b", Repeat: 1, Tier: local, Failure: "x"}}),
		"No variant has a counted repeat, so there are no figures.":                            of5(t, []analysis.Trial{{Variant: "a", Repeat: 1, Tier: local, Failure: "x"}}),
		"b cannot be compared with a: a comparison needs at least 3 repeats of each":           of5(t, steady("a", local, 900), two),
		"Not ranked, because no comparison is possible: b.":                                    of5(t, steady("a", local, 900), two, steady("c", local, 900)),
		"No two variants can be compared; see Comparisons for the reasons.":                    of5(t, steady("a", local, 900)[:2], two),
		"Results of different durability tiers are not compared":                               of5(t, steady("a", local, 1000), steady("b", async, 4000)),
		"no difference in TPS can be claimed between b and a: 95% interval":                    of5(t, steady("a", local, 1000), steady("b", local, 1000)),
		"Caution TooFewRepeats (a)":                                                            of5(t, steady("a", local, 1000)[:2]),
		"A commit is acknowledged before it is flushed: up to 3 x wal_writer_delay of commits": of5(t, steady("a", async, 1000)),
		"A commit is acknowledged before it is flushed, to memory that ends with its node.":    of5(t, steady("a", v1alpha1.DurabilityEphemeral, 1000)),
	} {
		for _, form := range []Form{Text, HTML, Markdown} {
			// Neither line breaks nor escapes are of interest.
			got := strings.Join(strings.Fields(strings.NewReplacer(`\`, "", "&#43;", "+").Replace(write(t, form, r, Options{}))), " ")
			if !strings.Contains(got, want) {
				t.Errorf("%s does not say %q:\n%s", form, want, got)
			}
		}
	}
}

func TestGroupsHaveVariantsOfOneTier(t *testing.T) {
	r := build(t, sample(t, versions...))
	var got []string
	for _, g := range r.Groups {
		got = append(got, string(g.Durability))
		for _, v := range g.Variants {
			if v.Name != "level" && !strings.Contains(v.Name, string(g.Durability)) {
				t.Errorf("%s in %s", v.Name, g.Durability)
			}
		}
		for _, d := range g.Differences {
			if g.index(d.Baseline) < 0 || g.index(d.Variant) < 0 {
				t.Errorf("across tiers: %s", d.Message)
			}
		}
	}
	if strings.Join(got, " ") != "Local Async" {
		t.Error(got)
	}
}

func TestRejectedRunIsListedAndChangesNoFigure(t *testing.T) {
	throttled := func(tps float64) Report {
		runs := steady("a", v1alpha1.DurabilityLocal, 1000)
		runs[4].Result.TPS = tps
		runs[4].Facts.Duration = 1e9
		runs[4].Facts.Pods = []validity.Pod{{Name: "shop-1", Periods: 10, Throttled: 9, ThrottledTime: 5e8}}
		return of5(t, runs)
	}
	r := throttled(12345)
	v, other := r.Groups[0].Variants[0], throttled(1).Groups[0].Variants[0]
	if v.TPS.N != 4 || *v.TPS.Interval != *other.TPS.Interval || v.TPS.Mean != other.TPS.Mean {
		t.Errorf("%+v %+v", v.TPS, other.TPS)
	}
	for _, form := range Forms {
		got := write(t, form, r, Options{Width: 300})
		if !strings.Contains(got, "PodThrottled") {
			t.Errorf("%s does not say why", form)
		}
		if form != SVG && form != JSON && !strings.Contains(got, "waited for its CPU quota in 9 of 10 periods") {
			t.Errorf("%s does not say what was seen", form)
		}
		if form != JSON && form != CSV && form != SVG && !strings.Contains(got, "4 of 5") {
			t.Errorf("%s does not say how many count", form)
		}
	}
}

// A run at a limit that the cluster declares counts, and the report says once what that means.
func TestDeclaredLimitIsExplainedOnce(t *testing.T) {
	limited := func(name string, limit float64) []analysis.Trial {
		runs := steady(name, v1alpha1.DurabilityLocal, 1000)
		for i := range runs {
			runs[i].Facts.Duration = 1e9
			runs[i].Facts.Pods = []validity.Pod{{Name: name + "-1", Periods: 10, Throttled: 9, ThrottledTime: 5e8, Quota: &limit, Declared: &limit}}
		}
		return runs
	}
	const sets, storage, differ = "The CPU limit that the cluster declares sets the rate of ", "not its storage", "is a difference in CPU"
	for name, tc := range map[string]struct {
		runs         []analysis.Trial
		want, absent string
	}{
		"alone":            {limited("a", 0.5), sets + "a (0.5 CPU)", differ},
		"the same limit":   {slices.Concat(limited("a", 0.5), limited("b", 0.5)), sets + "a and b (0.5 CPU)", differ},
		"different limits": {slices.Concat(limited("a", 0.5), limited("b", 1)), differ, "(0.5 CPU), and of c"},
		"one is free":      {slices.Concat(limited("a", 0.5), steady("free", v1alpha1.DurabilityLocal, 1500)), differ, "free (0.5"},
	} {
		r := of5(t, tc.runs)
		for _, v := range r.Groups[0].Variants {
			if v.counted() != len(v.Repeats) || v.TPS == nil {
				t.Errorf("%s: %d repeats of %s count", name, v.counted(), v.Name)
			}
		}
		for _, form := range []Form{Text, Markdown, HTML} {
			got := write(t, form, r, Options{Width: 1000})
			if strings.Count(got, sets) != 1 || strings.Count(got, storage) != 1 || !strings.Contains(got, tc.want) || strings.Contains(got, tc.absent) {
				t.Errorf("%s as %s: %s", name, form, got)
			}
			if !strings.Contains(got, "CPULimitReached") || strings.Contains(got, "reached its CPU limit") {
				t.Errorf("%s as %s: figures have no flag, or caveats repeat the explanation", name, form)
			}
		}
	}
}

func TestFigureWithoutAnIntervalSaysWhy(t *testing.T) {
	s := summary(t, 1, 2, 3)
	lone := summary(t, 7)
	for want, got := range map[string]string{
		"2.000 ms [0, 4.484]":                mean(&s, "ms"),
		"2.000":                              median(&s, ""),
		"7.000 [no interval for one repeat]": mean(&lone, ""),
		none:                                 mean(nil, "ms"),
		"12346 1234 123.4 12.35 1.235 0.123 0 -1.5": join(number(12345.6), number(1234.4), number(123.42), number(12.346), number(1.2346), number(0.1234), number(0), "-1.5"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	big := summary(t, 1, 2, 3, 4, 5, 6)
	if got := median(&big, ""); got != "3.500 [1.000, 6.000]" {
		t.Error(got)
	}
}

func TestIncompleteMatrixIsMarked(t *testing.T) {
	r := build(t, sample(t, versions...))
	want := "The benchmark is incomplete: 40 runs succeeded, 1 failed, 0 were skipped, 5 have not ended (BudgetSpent); variants without a completed run: never."
	if got := r.partial(); got != want {
		t.Errorf("%s", got)
	}
	r.Progress.Pending, r.NotRun = 0, nil
	if got := r.partial(); got != "" {
		t.Errorf("a whole one: %s", got)
	}
}

// Before the end nothing is ranked, and notes stand in every form.
func TestNothingIsRankedBeforeTheEnd(t *testing.T) {
	in := sample(t, versions...)
	in.Progress.Stop = ""
	in.Notes = []string{"Of 2 runs only the status tells."}
	r := build(t, in)
	for _, g := range r.Groups {
		if len(g.Ranking)+len(g.Differences) > 0 || len(g.ordered()) != len(g.Variants) {
			t.Errorf("%s is ranked: %+v", g.Durability, g.Ranking)
		}
	}
	for _, form := range Forms {
		got := write(t, form, r, Options{Width: 300})
		if !strings.Contains(got, in.Notes[0]) {
			t.Errorf("%s lost the note", form)
		}
		if form != JSON && form != CSV && !strings.Contains(got, unranked) {
			t.Errorf("%s does not say why nothing is ranked", form)
		}
		if strings.Contains(got, "has the highest TPS") || strings.Contains(got, "can be claimed between") {
			t.Errorf("%s compares", form)
		}
	}
}

func TestOmittedComparisonsAreCounted(t *testing.T) {
	var runs [][]analysis.Trial
	for name := range strings.SplitSeq("abcdefgh", "") {
		runs = append(runs, steady(name, v1alpha1.DurabilityLocal, 1000+100*float64(name[0])))
	}
	r := of5(t, runs...)
	shown, left := r.Groups[0].shownDifferences()
	if len(shown) != 7 || left != 21 {
		t.Errorf("%d shown, %d left", len(shown), left)
	}
	if !strings.Contains(write(t, Text, r, Options{}), "21 more comparisons are in the json and csv forms.") {
		t.Error("nothing is said of the others")
	}
}

func TestBuildRejectsForeignVariantsAndLayers(t *testing.T) {
	runs := steady("a", v1alpha1.DurabilityLocal, 1000)
	a := mustAnalyse(t, runs)
	for want, in := range map[string]Input{
		`it must be Quorum, Local, Async, Ephemeral, ReadOnly or Unverified`: {Analysis: analysis.Analysis{Variants: []analysis.Variant{{Name: "a", Durability: "Best"}}}},
		`a run has variant "z"`:                      {Analysis: a, Runs: []analysis.Trial{{Variant: "z"}}},
		`layers have variant "z"`:                    {Analysis: a, Layers: map[string][]LayerSummary{"z": nil}},
		`layer "device" needs a unique name`:         {Analysis: a, Layers: map[string][]LayerSummary{"a": {{Name: "device"}, {Name: "device"}}}},
		`layer "wal" is above "device", which is `:   {Analysis: a, Layers: map[string][]LayerSummary{"a": {{Name: "wal", Over: "device"}, {Name: "device"}}}},
		`layer "flush" is above "counted", which is`: {Analysis: a, Layers: map[string][]LayerSummary{"a": {{Name: "counted"}, {Name: "flush", Over: "counted"}}}},
	} {
		if _, err := Build(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
