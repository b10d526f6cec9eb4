package analysis

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/fingerprint"
	"github.com/pgstorage/pgstorage/internal/bench/histogram"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// simulated run of a steady rate.
func simulated(t *testing.T, variant string, repeat int, tps float64) Trial {
	t.Helper()
	r := Trial{
		Variant: variant, Repeat: repeat, Tier: v1alpha1.DurabilityLocal, Latencies: histogram.New(),
		Result: &pgbench.Result{
			TPS: tps, Clients: 4, Duration: 20 * time.Second, Counts: pgbench.Counts{Transactions: 1000}, Latency: pgbench.Latency{LatencyAvg: 4000 / tps},
		},
	}
	for second := range 20 {
		r.Seconds = append(r.Seconds, pgbench.Progress{At: time.Duration(second+1) * time.Second, TPS: tps})
	}
	for i := range int64(100) {
		if err := r.Latencies.Record(1000 + 10*i); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// five repeats of a variant, last first.
func five(t *testing.T, variant string, tps float64) []Trial {
	t.Helper()
	var runs []Trial
	for repeat := 5; repeat >= 1; repeat-- {
		runs = append(runs, simulated(t, variant, repeat, tps+float64(repeat*repeat%7)))
	}
	return runs
}

func analyse(t *testing.T, runs []Trial) Analysis {
	t.Helper()
	report, err := Analyse(runs)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestRejectedRunsAreShownAndDoNotCount(t *testing.T) {
	runs := append(five(t, "a", 1000), five(t, "b", 900)...)
	runs[0].Facts.Pods = []validity.Pod{{Name: "shop-1", Periods: 200, Throttled: 150, ThrottledTime: 8 * time.Second}}
	v := analyse(t, runs).Variants[0]
	last := v.Repeats[4]
	if v.Name != "a" || last.Counted || last.TPS == 0 || v.TPS.N != 4 || v.Latencies.Count() != 400 {
		t.Errorf("%+v", v)
	}
	var reasons []string
	for _, f := range last.Findings {
		if f.Verdict == validity.Rejected {
			reasons = append(reasons, f.Reason)
		}
	}
	if diff := cmp.Diff([]string{validity.ReasonPodThrottled}, reasons); diff != "" {
		t.Error(diff)
	}
	if v.Agreement.Reason != validity.ReasonTooFewRepeats {
		t.Errorf("%+v", v.Agreement)
	}
}

// Findings of others on a run replace checks without facts. The mean excludes figures that are
// not known.
func TestKnownFindings(t *testing.T) {
	runs := five(t, "a", 1000)
	r := &runs[0]
	r.Latencies, r.LatencyP99 = nil, 7
	r.Known = []validity.Finding{
		{Check: validity.CheckThrottling, Verdict: validity.Rejected, Reason: validity.ReasonPodThrottled, Message: "it was"},
		{Check: validity.CheckFailures, Verdict: validity.Caution, Reason: validity.ReasonTransactionsFailed, Message: "some"},
	}
	runs[1].Latencies = nil
	v := analyse(t, runs).Variants[0]
	last := v.Repeats[4]
	if last.Counted || last.LatencyP99 != 7 || v.LatencyP99.N != 3 || v.TPS.N != 4 {
		t.Errorf("%+v %+v %+v", last, v.LatencyP99, v.TPS)
	}
	verdicts := map[string][]validity.Verdict{}
	for _, f := range last.Findings {
		verdicts[f.Check] = append(verdicts[f.Check], f.Verdict)
	}
	want := map[string][]validity.Verdict{validity.CheckThrottling: {validity.Rejected}, validity.CheckFailures: {validity.Passed, validity.Caution}}
	for check, v := range want {
		if diff := cmp.Diff(v, verdicts[check]); diff != "" {
			t.Errorf("%s: %s", check, diff)
		}
	}
}

func TestFailedVariantIsAResult(t *testing.T) {
	runs := five(t, "a", 1000)
	for repeat := range 2 {
		runs = append(runs, Trial{Variant: "b", Repeat: repeat + 1, Tier: v1alpha1.DurabilityLocal, Failure: "the pool is full"})
	}
	report := analyse(t, runs)
	b := report.Variants[1]
	if b.TPS != nil || b.Curve != nil || len(b.Repeats) != 2 || b.Repeats[0].Failure != "the pool is full" || b.Agreement.Reason != validity.ReasonTooFewRepeats {
		t.Errorf("%+v", b)
	}
	if len(report.Tiers) != 1 || len(report.Tiers[0].Ranking) != 1 {
		t.Errorf("%+v", report.Tiers)
	}
}

func TestLevelsBecomeFindings(t *testing.T) {
	r := simulated(t, "a", 1, 1000)
	for second := range 8 {
		r.Seconds[second].TPS = 300
	}
	repeat, err := Examine(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range repeat.Findings {
		if f.Check == validity.CheckSteadiness && !strings.Contains(f.Message, "first at 8s from 300 to 1000") {
			t.Errorf("%+v", f)
		}
	}
	if !repeat.Counted {
		t.Error("a change of level is a caution")
	}
}

func TestSettingsOfRepeats(t *testing.T) {
	runs := five(t, "a", 1000)
	for i := range runs {
		runs[i].Settings = fingerprint.Settings{}
		runs[i].Settings.Set(fingerprint.Kernel, "release", "6.1")
	}
	v := analyse(t, runs).Variants[0]
	if v.Fingerprint != runs[0].Settings.Hash() || v.SettingsChanged != nil {
		t.Errorf("%s %v", v.Fingerprint, v.SettingsChanged)
	}
	// The first of the list is the last repeat.
	runs[0].Settings.Set(fingerprint.Kernel, "release", "6.2")
	v = analyse(t, runs).Variants[0]
	if got := fmt.Sprint(v.SettingsChanged); got != "[Kernel release: 6.1, 6.2]" {
		t.Error(got)
	}
}

func TestAnalyseRefuses(t *testing.T) {
	one := func(change func(*Trial)) []Trial {
		runs := five(t, "a", 1000)
		change(&runs[0])
		return runs
	}
	for want, runs := range map[string][]Trial{
		"durability Local and Async":                                      one(func(r *Trial) { r.Tier = v1alpha1.DurabilityAsync }),
		`repeat 1 of variant "a" is listed`:                               one(func(r *Trial) { r.Repeat = 1 }),
		"has neither a result nor a failure":                              one(func(r *Trial) { r.Result = nil }),
		"must be Quorum, Local, Async, Ephemeral, ReadOnly or Unverified": {{Variant: "x", Repeat: 1, Failure: "y"}},
		`variant "a": value 5: a value is not`:                            one(func(r *Trial) { r.Result.TPS /= 0 * r.Result.TPS }),
	} {
		if _, err := Analyse(runs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if report := analyse(t, nil); report.Tiers != nil || report.Variants != nil {
		t.Errorf("%+v", report)
	}
}
