package report

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/comparison"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/bench/report/document"
)

// twoAxes by one repeat count: version by clients.
func twoAxes(t testing.TB) Report {
	t.Helper()
	in := Input{
		About: About{Name: "x"},
		Axes:  []matrix.Axis{{Name: "version", Values: []string{"17", "18"}}, {Name: "clients", Values: []string{"1", "4"}}},
	}
	for _, v := range []struct {
		name, version, clients string
		tps                    float64
	}{{"a", "17", "1", 100}, {"b", "17", "4", 400}, {"c", "18", "1", 100}, {"e", "18", "4", 600}} {
		in.Runs = append(in.Runs, steady(v.name, v1alpha1.DurabilityLocal, v.tps)...)
		in.Variants = append(in.Variants, matrix.Variant{Name: v.name, Values: map[string]string{"version": v.version, "clients": v.clients}})
	}
	// The first run is not of the baseline.
	slices.Reverse(in.Runs)
	in.Analysis = mustAnalyse(t, in.Runs)
	return build(t, in)
}

// The form is that of benchstat: mean ± percent, and a delta with p and n, or "~".
var (
	benchstatMean  = regexp.MustCompile(`^[0-9.]+ ± ([0-9]+%|∞)$`)
	benchstatDelta = regexp.MustCompile(`^(~|[+-][0-9]+\.[0-9]{2}%) \(p=[01]\.[0-9]{3} n=[0-9]+\+[0-9]+\)$`)
)

func TestDeltasHaveTheFormOfBenchstat(t *testing.T) {
	g := twoAxes(t).Groups[0]
	if g.Baseline != "a" {
		t.Errorf("got the baseline %q, want the first variant of the plan", g.Baseline)
	}
	for _, d := range g.Deltas {
		for i, row := range d.table(g.Durability).Rows {
			if row[0] == "geomean" {
				continue
			}
			if !benchstatMean.MatchString(row[1]) || !benchstatMean.MatchString(row[2]) || !benchstatDelta.MatchString(row[3]) {
				t.Errorf("row %d of %s: %q", i, d.Figure, row)
			}
		}
	}
}

func TestDeltasCompareWithTheBaselineAndByAxis(t *testing.T) {
	g := twoAxes(t).Groups[0]
	got := map[string][]string{}
	for _, d := range g.Deltas {
		for _, row := range d.table(g.Durability).Rows {
			mark, _, _ := strings.Cut(row[3], " ")
			got[d.Old+" to "+d.New] = append(got[d.Old+" to "+d.New], row[0]+": "+mark)
		}
	}
	want := map[string][]string{
		"a to ":                    {"b: +300.00%", "c: ~", "e: +500.00%"},
		"version=17 to version=18": {"clients=1: ~", "clients=4: +50.00%", "geomean: +22.47%"},
		"clients=1 to clients=4":   {"version=17: +300.00%", "version=18: +500.00%", "geomean: +389.90%"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The same variants must not be compared with another result than the ranking has.
func TestDeltasAgreeWithTheRanking(t *testing.T) {
	for _, g := range build(t, sample(t, versions...)).Groups {
		g.Deltas = nil
		for _, d := range g.Differences {
			if back := find(g.Differences, d.Variant, d.Baseline); back.P != d.P || (d.Verdict == comparison.Better) != (back.Verdict == comparison.Worse) {
				t.Errorf("got %+v as the inverse of %+v", back, d)
			}
		}
	}
}

func TestVariantWithTooFewRepeatsIsNotComparable(t *testing.T) {
	r := of5(t, steady("a", v1alpha1.DurabilityLocal, 100), steady("b", v1alpha1.DurabilityLocal, 200)[:1])
	row := r.Groups[0].Deltas[0].table("Local").Rows[0]
	if diff := cmp.Diff([]string{"b", row[1], "201.2 ± ∞", "~ (n=5+1, not comparable)"}, row); diff != "" {
		t.Error(diff)
	}
}

func TestHeadlineHasTheThreeFiguresThatMatter(t *testing.T) {
	yes, no := true, false
	two := of5(t, steady("a", v1alpha1.DurabilityLocal, 1000), steady("b", v1alpha1.DurabilityLocal, 1500))
	passed, failed := two, two
	passed.Gate, failed.Gate = &Gate{Passed: &yes, Reason: "NotRegressed"}, &Gate{Passed: &no, Reason: "Regressed", Message: "b is 9% slower"}
	for name, tc := range map[string]struct {
		report  Report
		status  string
		tone    document.Tone
		figures []string
	}{
		"single":      {of5(t, steady("a", v1alpha1.DurabilityLocal, 1000)), "Valid as far as checked: 5 of 5 runs count", document.Warning, []string{"TPS 1004", "p99 latency –", "Durability Local"}},
		"matrix":      {two, "Valid as far as checked: 10 of 10 runs count", document.Warning, []string{"Best variant b", "Gain in TPS over the baseline +50.0%", "p99 latency –"}},
		"gate passed": {passed, "Valid as far as checked: 10 of 10 runs count", document.Warning, []string{"Best variant b", "Gain in TPS over the baseline +50.0%", "Gate Passed"}},
		"gate failed": {failed, "Gate failed: 10 of 10 runs count", document.Worse, []string{"Best variant b", "Gain in TPS over the baseline +50.0%", "Gate Failed"}},
		"no figures":  {of5(t, []analysis.Trial{{Variant: "a", Repeat: 1, Tier: v1alpha1.DurabilityLocal, Failure: "x"}}), "No valid run", document.Worse, nil},
		"single runs": {of5(t, steady("a", v1alpha1.DurabilityLocal, 1000)[:1], steady("b", v1alpha1.DurabilityLocal, 1500)[:1]), "Valid with caveats: 2 of 2 runs count", document.Warning, []string{"Highest TPS, not compared b", "Gain in TPS over the baseline –", "p99 latency –"}},
		"a tie":       {of5(t, steady("a", v1alpha1.DurabilityLocal, 1000), steady("b", v1alpha1.DurabilityLocal, 1000)), "Valid as far as checked: 10 of 10 runs count", document.Warning, []string{"Best variants 2 share rank 1", "Gain in TPS over the baseline –", "p99 latency –"}},
	} {
		h := tc.report.headlines()[0]
		var figures []string
		for _, f := range h.Figures {
			figures = append(figures, f.Name+" "+f.Value)
		}
		if h.Status != tc.status || h.Tone != tc.tone {
			t.Errorf("%s: got %q, %q, want %q, %q", name, h.Status, h.Tone, tc.status, tc.tone)
		}
		if diff := cmp.Diff(tc.figures, figures); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A latency is never shown below zero.
func TestNoLatencyIsBelowZero(t *testing.T) {
	r := build(t, sample(t, versions...))
	for _, form := range []Form{Text, Markdown} {
		if found := regexp.MustCompile(`\[-[0-9.]+`).FindString(write(t, form, r, Options{})); found != "" {
			t.Errorf("%s has an interval that begins at %s", form, found)
		}
	}
}
