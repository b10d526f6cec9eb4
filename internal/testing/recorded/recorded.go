// Package recorded has real runs of pgbench, as internal/bench/analysis keeps them.
package recorded

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
)

// Matrix of one version, as "v17": durability Local and Async by 1 and 4 clients,
// five repeats of each. A variant is named as "Local-4".
func Matrix(t testing.TB, version string) []analysis.Trial {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder(t), version, "*-*.*.out.txt"))
	if err != nil || len(paths) != 20 {
		t.Fatalf("%s has %d runs: %v", version, len(paths), err)
	}
	var runs []analysis.Trial
	for _, path := range paths {
		r := run(t, strings.TrimSuffix(path, ".out.txt"))
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

// Level is a run of durability Async whose rate changes its level in the middle.
func Level(t testing.TB, version string) analysis.Trial {
	t.Helper()
	r := run(t, filepath.Join(folder(t), version, "level"))
	r.Variant, r.Repeat, r.Tier = "level", 1, v1alpha1.DurabilityAsync
	return r
}

// run of a path without suffix.
func run(t testing.TB, path string) analysis.Trial {
	t.Helper()
	result, err := pgbench.Parse(strings.NewReader(read(t, path+".out.txt")))
	if err != nil {
		t.Fatal(err)
	}
	log := pgbench.NewLog(pgbench.LogFormat{})
	if err := log.Read(strings.NewReader(read(t, path+".log.txt"))); err != nil {
		t.Fatal(err)
	}
	r := analysis.Trial{Result: result, Latencies: log.Latencies()}
	for line := range strings.Lines(read(t, path+".err.txt")) {
		if p, ok := pgbench.ParseProgress(strings.TrimSpace(line)); ok {
			r.Seconds = append(r.Seconds, p)
		}
	}
	r.Facts.Workload.Writes = true
	return r
}

func read(t testing.TB, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// folder of the recordings, from the root of the module.
func folder(t testing.TB) string {
	t.Helper()
	at, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return filepath.Join(at, "internal", "bench", "analysis", "testdata")
		}
		if at == filepath.Dir(at) {
			t.Fatal("no go.mod above the test")
		}
		at = filepath.Dir(at)
	}
}
