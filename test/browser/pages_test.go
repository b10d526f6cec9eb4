//go:build browser

package browser

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/disturbance"
	"github.com/pgstorage/pgstorage/internal/bench/histogram"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/report"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
	"github.com/pgstorage/pgstorage/internal/testing/recorded"
)

// pages of reports by name: of many and few variants, with and without figures.
func pages(t *testing.T) map[string]string {
	t.Helper()
	inputs := map[string]report.Input{
		"recorded": ofRecordings(t), "many": ofMany(t), "single": ofOne(t), "failed": ofFailures(), "bare": withoutRecords(),
	}
	out := map[string]string{}
	for name, in := range inputs {
		var err error
		if in.Analysis, err = analysis.Analyse(in.Runs); err != nil {
			t.Fatal(err)
		}
		r, err := report.Build(in)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := report.Write(&b, report.HTML, r, report.Options{}); err != nil {
			t.Fatal(err)
		}
		out[name] = b.String()
	}
	return out
}

// ofRecordings has recorded runs of two tiers, with names that are long, and markup.
func ofRecordings(t *testing.T) report.Input {
	in := report.Input{
		About: report.About{Name: "shop/<script>alert(1)</script>", Time: "2026-01-02T03:04:05Z"},
		Axes:  []matrix.Axis{{Name: "version", Values: []string{"17", "18"}}, {Name: "clients", Values: []string{"1", "4"}}},
	}
	for _, version := range []string{"17", "18"} {
		for _, r := range recorded.Matrix(t, "v"+version) {
			clients := r.Variant[len(r.Variant)-1:]
			r.Variant = fmt.Sprintf("profile=zfs-local-with-a-long-name version=%s clients=%s %s", version, clients, r.Tier)
			in.Variants = append(in.Variants, matrix.Variant{Name: r.Variant, Values: map[string]string{"version": version, "clients": clients}})
			in.Runs = append(in.Runs, r)
		}
	}
	in.Variants = slices.CompactFunc(in.Variants, func(a, b matrix.Variant) bool { return a.Name == b.Name })
	return in
}

// synthetic run of two minutes, of a variant with a rate and a latency, that a checkpoint slows
// down. It has no randomness: its noise is a sum of waves.
func synthetic(t *testing.T, variant string, repeat int, tps, latency float64) analysis.Trial {
	t.Helper()
	const seconds = 120
	wave := func(n float64) float64 { return math.Sin(n*1.7)*0.04 + math.Sin(n*0.31+float64(repeat))*0.03 }
	r := analysis.Trial{Variant: variant, Repeat: repeat, Tier: v1alpha1.DurabilityLocal, Latencies: histogram.New(), Looks: 23}
	total := 0.0
	for s := range seconds {
		rate := tps * (1 + wave(float64(s)) + 0.004*math.Sin(float64(len(variant)*repeat)+tps))
		switch {
		case s >= 50+5*repeat && s < 75+5*repeat:
			rate *= 0.7
		case s == 100:
			rate = 0
		}
		total += rate
		p := pgbench.Progress{At: time.Duration(s+1) * time.Second, TPS: rate}
		if rate > 0 {
			p.LatencyAvg = latency * tps / rate
		}
		r.Seconds = append(r.Seconds, p)
	}
	for n := range 2000 {
		if err := r.Latencies.Record(int64(1000 * latency * (0.5 + math.Pow(float64(n)/1000, 4)) * (1 + 0.05*math.Sin(float64(repeat*repeat)+tps)))); err != nil {
			t.Fatal(err)
		}
	}
	r.Result = &pgbench.Result{TPS: total / seconds, Clients: 8, Duration: seconds * time.Second, Latency: pgbench.Latency{LatencyAvg: latency}, Counts: pgbench.Counts{Transactions: int64(total)}}
	r.Facts.Workload.Writes = true
	begin := time.Duration(50+5*repeat) * time.Second
	r.Events = []disturbance.Event{
		{Kind: disturbance.Checkpoint, From: begin, To: begin + 25*time.Second, Message: "a checkpoint was under way"},
		{Kind: disturbance.Vacuum, From: begin + 10*time.Second, To: begin + 15*time.Second, Message: "autovacuum worked on pgbench_accounts"},
	}
	return r
}

// ofMany has 20 variants whose latencies span decades.
func ofMany(t *testing.T) report.Input {
	profiles := []string{"local-nvme", "zfs-mirror", "ceph-rbd-replicated-3", "s3-nbd-with-local-cache"}
	clients := []string{"1", "4", "16", "64", "256"}
	in := report.Input{
		About: report.About{Name: "shop/storage-comparison", Time: "2026-01-02T03:04:05Z", Facts: []report.Fact{{Name: "scale", Value: "1000"}, {Name: "duration", Value: "2m"}}},
		Axes:  []matrix.Axis{{Name: "profile", Values: profiles}, {Name: "clients", Values: clients}},
		Gate:  &report.Gate{Passed: new(true), Reason: "NotRegressed", Message: "20 variants compared with last-week: no regression of 5% or more"},
	}
	for p, profile := range profiles {
		for c, count := range clients {
			name := "profile=" + profile + " clients=" + count
			in.Variants = append(in.Variants, matrix.Variant{Name: name, Values: map[string]string{"profile": profile, "clients": count}})
			tps := 4000 * math.Pow(0.45, float64(p)) * math.Pow(1.9, float64(c)) / (1 + math.Pow(float64(c)/4, 4))
			latency := 1000 * math.Pow(4, float64(c)) / tps
			for repeat := range 5 {
				r := synthetic(t, name, repeat+1, tps, latency)
				if profile == "zfs-mirror" && repeat == 1 {
					r.Facts.Pods = []validity.Pod{{Name: "shop-1", Periods: 1200, Throttled: 400, ThrottledTime: 20 * time.Second}}
					r.Events = append(r.Events, disturbance.Event{Kind: disturbance.CPUQuota, From: 20 * time.Second, To: 40 * time.Second, Message: "pod shop-1 waited 20s for its CPU quota"})
				}
				in.Runs = append(in.Runs, r)
			}
		}
	}
	return in
}

// ofOne has one variant.
func ofOne(t *testing.T) report.Input {
	in := report.Input{About: report.About{Name: "shop/first", Time: "2026-01-02T03:04:05Z", Facts: []report.Fact{{Name: "cluster", Value: "shop"}, {Name: "scale", Value: "100"}}}}
	for repeat := range 5 {
		in.Runs = append(in.Runs, synthetic(t, "clients=8", repeat+1, 1800, 4.4))
	}
	return in
}

// ofFailures has no run that succeeded.
func ofFailures() report.Input {
	in := report.Input{About: report.About{Name: "shop/failed"}}
	for _, variant := range []string{"a", "b"} {
		for repeat := range 3 {
			in.Runs = append(in.Runs, analysis.Trial{Variant: variant, Repeat: repeat + 1, Tier: v1alpha1.DurabilityLocal, Failure: "the pool is full"})
		}
	}
	return in
}

// withoutRecords has rates, and nothing else.
func withoutRecords() report.Input {
	in := report.Input{About: report.About{Name: "shop/old"}, Notes: []string{"Only the status describes 6 run(s) (repeat 1 of a; repeat 2 of a; repeat 3 of a; and 3 more): its runner stored no record."}}
	for v, variant := range []string{"a", "b"} {
		for repeat := range 3 {
			in.Runs = append(in.Runs, analysis.Trial{
				Variant: variant, Repeat: repeat + 1, Tier: v1alpha1.DurabilityQuorum,
				Result: &pgbench.Result{TPS: 100 + float64(10*repeat+3*v), Clients: 1},
				Known:  []validity.Finding{{Check: "Record", Verdict: validity.Caution, Reason: "RecordMissing", Message: "only the status describes this run"}},
			})
		}
	}
	return in
}
