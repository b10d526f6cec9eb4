package report

import (
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/fingerprint"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
	"github.com/pgstorage/pgstorage/internal/testing/recorded"
)

// versions of Postgres in the whole sample.
var versions = []string{"17", "18"}

// sample of recorded runs: versions by two client counts in two tiers. One run was throttled,
// one failed (of version 18), and one changes its level.
func sample(t testing.TB, versions ...string) Input {
	t.Helper()
	in := Input{
		About: About{Name: "shop/nightly", Time: "2026-01-02T03:04:05Z", Facts: []Fact{{"scale", "4"}, {"duration", "5 s"}}},
		Axes: []matrix.Axis{
			{Name: "version", Values: versions}, {Name: "clients", Values: []string{"1", "4"}},
			{Name: "durability", Values: []string{"Local", "Async"}, Target: true},
		},
		Varied: map[fingerprint.Group][]string{fingerprint.Versions: {"server"}},
		Layers: map[string][]LayerSummary{"17 Local-1": layers(t)},
	}
	for _, version := range versions {
		for _, r := range recorded.Matrix(t, "v"+version) {
			in.add(version, r)
		}
	}
	level := recorded.Level(t, "v17")
	in.Runs = append(in.Runs, level)
	in.Variants = append(in.Variants, matrix.Variant{Name: "never"})
	in.Progress = &matrix.Progress{Succeeded: 40, Failed: 1, Pending: 5, Stop: matrix.BudgetSpent}
	for i := range in.Runs {
		r := &in.Runs[i]
		switch {
		case r.Variant == "17 Local-4" && r.Repeat == 2:
			r.Facts.Pods = []validity.Pod{{Name: "shop-1", Periods: 50, Throttled: 40, ThrottledTime: 2 * time.Second}}
		case r.Variant == "18 Async-1" && r.Repeat == 3:
			r.Result, r.Failure = nil, "the pool is full"
		}
	}
	var err error
	if in.Analysis, err = analysis.Analyse(in.Runs); err != nil {
		t.Fatal(err)
	}
	return in
}

// add a run of a version.
func (in *Input) add(version string, r analysis.Trial) {
	clients := r.Variant[len(r.Variant)-1:]
	r.Variant = version + " " + r.Variant
	r.Settings = fingerprint.Settings{}
	r.Settings.Set(fingerprint.Versions, "server", version)
	r.Settings.Set(fingerprint.Postgres, "shared_buffers", "128MB")
	if version == "18" {
		r.Settings.Set(fingerprint.Postgres, "io_method", "worker")
	}
	known := false
	for _, v := range in.Variants {
		known = known || v.Name == r.Variant
	}
	if !known {
		values := map[string]string{"version": version, "clients": clients, "durability": string(r.Tier)}
		in.Variants = append(in.Variants, matrix.Variant{Name: r.Variant, Values: values})
	}
	in.Runs = append(in.Runs, r)
}

func layers(t testing.TB) []LayerSummary {
	t.Helper()
	bytes, flushes := summary(t, 16384, 16390, 16378), summary(t, 1.02, 1.01, 1.03)
	written, requests := summary(t, 24576), summary(t, 2.5)
	return []LayerSummary{
		{Name: "block device", Method: "counted by the kernel", Bytes: &written, Requests: &requests},
		{Name: "device", Method: "fio, writes of 8 kB, each flushed", Time: summary(t, 10.1, 10.3, 9.9, 10.2, 10.0)},
		{Name: "filesystem", Method: "fio on a file of it", Over: "device", Time: summary(t, 10.2, 10.4, 10.0, 10.3, 10.1)},
		{Name: "WAL flush", Method: "pg_test_fsync", Over: "filesystem", Time: summary(t, 20.1, 20.3, 20.2, 20.4, 20.0)},
		{Name: "transaction", Method: "pgbench", Over: "WAL flush", Time: summary(t, 41.0, 40.2, 40.8, 41.3, 40.9), Bytes: &bytes, Flushes: &flushes},
	}
}

func summary(t testing.TB, values ...float64) statistics.Summary {
	t.Helper()
	s, err := statistics.Summarise(values)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func build(t testing.TB, in Input) Report {
	t.Helper()
	r, err := Build(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
