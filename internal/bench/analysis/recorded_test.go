package analysis

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/histogram"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

func read(t testing.TB, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// recordedRun reads what record.sh kept of a run; path is without suffix.
func recordedRun(t testing.TB, path string) Trial {
	t.Helper()
	result, err := pgbench.Parse(strings.NewReader(read(t, path+".out.txt")))
	if err != nil {
		t.Fatal(err)
	}
	log := pgbench.NewLog(pgbench.LogFormat{})
	if err := log.Read(strings.NewReader(read(t, path+".log.txt"))); err != nil {
		t.Fatal(err)
	}
	r := Trial{Result: result, Latencies: log.Latencies()}
	for line := range strings.Lines(read(t, path+".err.txt")) {
		if p, ok := pgbench.ParseProgress(strings.TrimSpace(line)); ok {
			r.Seconds = append(r.Seconds, p)
		}
	}
	r.Facts.Workload.Writes = true
	return r
}

// recordedMatrix of one version.
func recordedMatrix(t testing.TB, folder string) []Trial {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*-*.*.out.txt"))
	if err != nil || len(paths) != 20 {
		t.Fatalf("%s has %d runs: %v", folder, len(paths), err)
	}
	var runs []Trial
	for _, path := range paths {
		r := recordedRun(t, strings.TrimSuffix(path, ".out.txt"))
		variant, repeat, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".out.txt"), ".")
		tier, _, _ := strings.Cut(variant, "-")
		r.Variant, r.Tier = variant, v1alpha1.DurabilityTier(tier)
		if r.Repeat, err = strconv.Atoi(repeat); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	return runs
}

func versions(t testing.TB) []string {
	t.Helper()
	folders, err := filepath.Glob("testdata/v*")
	if err != nil || len(folders) != 4 {
		t.Fatalf("want recordings of PostgreSQL 15 to 18, got %v: %v", folders, err)
	}
	return folders
}

// Real runs of every version are analysed as they were before.
func TestRecordedMatrix(t *testing.T) {
	for _, folder := range versions(t) {
		report, err := Analyse(recordedMatrix(t, folder))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range report.Variants {
			if v.Latencies.Count() == 0 {
				t.Errorf("%s: %s has no latencies", folder, v.Name)
			}
			// Their text depends on the compression of a version of Go.
			report.Variants[i].Latencies = nil
		}
		golden.Text(t, folder+"/report.golden.json", figures(t, report))
	}
}

// The runs had two tiers, and four clients commit more than one in each.
func TestRecordedRanking(t *testing.T) {
	for _, folder := range versions(t) {
		report, err := Analyse(recordedMatrix(t, folder))
		if err != nil {
			t.Fatal(err)
		}
		var got [][]string
		for _, tier := range report.Tiers {
			row := []string{string(tier.Durability)}
			for _, p := range tier.Ranking {
				row = append(row, p.Variant)
			}
			got = append(got, row)
			if len(tier.Differences) != 1 {
				t.Errorf("%s: %d differences of two variants", folder, len(tier.Differences))
			}
		}
		if diff := cmp.Diff([][]string{{"Local", "Local-4", "Local-1"}, {"Async", "Async-4", "Async-1"}}, got); diff != "" {
			t.Errorf("%s: %s", folder, diff)
		}
	}
}

// In the middle of one run commits began to wait for their flush.
func TestRecordedLevel(t *testing.T) {
	paths, err := filepath.Glob("testdata/v*/level.out.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recorded change of level: %v", err)
	}
	for _, path := range paths {
		folder := filepath.Dir(path)
		r := recordedRun(t, folder+"/level")
		r.Variant, r.Repeat, r.Tier = "level", 1, v1alpha1.DurabilityAsync
		repeat, err := Examine(r)
		if err != nil {
			t.Fatal(err)
		}
		changes := repeat.Levels.Changes
		if len(changes) != 1 || changes[0].At < 6 || changes[0].At > 8 || changes[0].After > changes[0].Before/2 {
			t.Errorf("%s: %+v of %v", folder, repeat.Levels, repeat.Rate)
		}
	}
}

// Latencies of logs that were merged are those of one log.
func TestRecordedLatenciesAddUp(t *testing.T) {
	all := pgbench.NewLog(pgbench.LogFormat{})
	var parts []*histogram.Histogram
	paths, err := filepath.Glob("testdata/*/Local-4.*.log.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		one := pgbench.NewLog(pgbench.LogFormat{})
		for _, log := range []*pgbench.Log{one, all} {
			if err := log.Read(strings.NewReader(read(t, path))); err != nil {
				t.Fatal(err)
			}
		}
		parts = append(parts, one.Latencies())
	}
	sum, err := histogram.Merge(parts...)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all.Latencies().Curve(), sum.Curve()); diff != "" || sum.Count() == 0 {
		t.Error(diff)
	}
}

// figures to six digits as JSON: the last ones differ between processors.
func figures(t *testing.T, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(raw, &plain); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	e := json.NewEncoder(&got)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(rounded(plain)); err != nil {
		t.Fatal(err)
	}
	return got.String()
}

func rounded(v any) any {
	switch v := v.(type) {
	case float64:
		if v == 0 {
			return v
		}
		unit := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(v))))
		return math.Round(v*unit) / unit
	case map[string]any:
		for key := range v {
			v[key] = rounded(v[key])
		}
	case []any:
		for i := range v {
			v[i] = rounded(v[i])
		}
	}
	return v
}
