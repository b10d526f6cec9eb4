package analysis_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/histogram"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
	"github.com/pgstorage/pgstorage/internal/testing/recorded"
)

// versions of Postgres with recorded runs.
var versions = []string{"v15", "v16", "v17", "v18"}

func analyseRecorded(t *testing.T, version string) analysis.Analysis {
	t.Helper()
	a, err := analysis.Analyse(recorded.Matrix(t, version))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestRecordedRunsHaveKnownFigures(t *testing.T) {
	for _, version := range versions {
		a := analyseRecorded(t, version)
		for _, v := range a.Variants {
			if v.Latencies.Count() == 0 || len(v.Curve) == 0 {
				t.Errorf("%s: %s has %d latencies and %d points, want some of both", version, v.Name, v.Latencies.Count(), len(v.Curve))
			}
		}
		golden.Text(t, filepath.Join("testdata", version, "analysis.golden.txt"), tables(t, a))
	}
}

// tables of an analysis, to six digits: further ones differ between processors.
func tables(t *testing.T, a analysis.Analysis) string {
	t.Helper()
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(format string, cells ...any) {
		if _, err := fmt.Fprintf(w, format+"\n", cells...); err != nil {
			t.Fatal(err)
		}
	}
	for _, tier := range a.Tiers {
		for _, p := range tier.Ranking {
			row("%s, rank %d: %s is better than %q", tier.Durability, p.Rank, p.Variant, p.BetterThan)
		}
		for _, d := range tier.Differences {
			c := d.Comparison
			row("%s: ratio %.6g, interval %.6g to %.6g, t %.6g, Hedges' g %.6g, p %.6g, Mann-Whitney p %.6g", d.Verdict, c.Ratio, c.Interval.Lower, c.Interval.Upper, c.T, c.HedgesG, c.P, c.MannWhitneyP)
			row("%s", d.Message)
		}
	}
	row("\nvariant\tfigure\tn\tmean\tinterval\tmedian\tstddev\tmin\tmax")
	for _, v := range a.Variants {
		for _, figure := range []struct {
			name string
			*statistics.Summary
		}{{"TPS", v.TPS}, {"average latency", v.LatencyAverage}, {"p99 latency", v.LatencyP99}} {
			s := figure.Summary
			row("%s\t%s\t%d\t%.6g\t%.6g to %.6g\t%.6g\t%.6g\t%.6g\t%.6g", v.Name, figure.name, s.N, s.Mean, s.Interval.Lower, s.Interval.Upper, s.Median, s.Stddev, s.Min, s.Max)
		}
	}
	row("\nvariant\trepeat\tcounted\tTPS\taverage latency\tp99 latency\tlevels\tfindings")
	for _, v := range a.Variants {
		for _, r := range v.Repeats {
			var findings []string
			for _, f := range r.Findings {
				if f.Verdict != "Passed" && f.Verdict != "NotRun" {
					findings = append(findings, string(f.Verdict)+" "+f.Reason)
				}
			}
			row("%s\t%d\t%v\t%.6g\t%.6g\t%.6g\t%d\t%s", v.Name, r.Repeat, r.Counted, r.TPS, r.LatencyAverage, r.LatencyP99, 1+len(r.Levels.Changes), strings.Join(findings, ", "))
		}
		row("%s\tall\t\t\t\t\t\t%s %s", v.Name, v.Agreement.Verdict, v.Agreement.Reason)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	var trimmed strings.Builder
	for line := range strings.Lines(b.String()) {
		trimmed.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return trimmed.String()
}

func TestFourClientsRankAboveOneWithinEachTier(t *testing.T) {
	for _, version := range versions {
		var got [][]string
		for _, tier := range analyseRecorded(t, version).Tiers {
			row := []string{string(tier.Durability)}
			for _, p := range tier.Ranking {
				row = append(row, p.Variant)
			}
			got = append(got, row)
			if len(tier.Differences) != 1 {
				t.Errorf("%s: got %d differences of two variants, want 1", version, len(tier.Differences))
			}
		}
		if diff := cmp.Diff([][]string{{"Local", "Local-4", "Local-1"}, {"Async", "Async-4", "Async-1"}}, got); diff != "" {
			t.Errorf("%s (-want +got): %s", version, diff)
		}
	}
}

// In the middle of one recorded run commits began to wait for their flush.
func TestRecordedChangeOfLevelIsFound(t *testing.T) {
	paths, err := filepath.Glob("testdata/v*/level.out.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recorded change of level: %v", err)
	}
	for _, path := range paths {
		version := filepath.Base(filepath.Dir(path))
		repeat, err := analysis.Examine(recorded.Level(t, version))
		if err != nil {
			t.Fatal(err)
		}
		changes := repeat.Levels.Changes
		if len(changes) != 1 || changes[0].At < 6 || changes[0].At > 8 || changes[0].After > changes[0].Before/2 {
			t.Errorf("%s: got levels %+v of %v, want one fall by half after 6 to 8 seconds", version, repeat.Levels, repeat.Rate)
		}
	}
}

func TestMergedLatenciesAreThoseOfAllRuns(t *testing.T) {
	for _, version := range versions {
		byVariant, count := map[string][]*histogram.Histogram{}, map[string]int64{}
		for _, trial := range recorded.Matrix(t, version) {
			byVariant[trial.Variant] = append(byVariant[trial.Variant], trial.Latencies)
			count[trial.Variant] += trial.Latencies.Count()
		}
		for _, v := range analyseRecorded(t, version).Variants {
			sum := histogram.New()
			for _, h := range byVariant[v.Name] {
				if err := sum.Add(h); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(sum.Curve(), v.Curve); diff != "" || v.Latencies.Count() != count[v.Name] {
				t.Errorf("%s %s: got %d latencies, want %d; curve (-want +got): %s", version, v.Name, v.Latencies.Count(), count[v.Name], diff)
			}
		}
	}
}
