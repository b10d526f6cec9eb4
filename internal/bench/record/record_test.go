package record

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/fingerprint"
	"github.com/pgstorage/pgstorage/internal/bench/histogram"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// latencies of n transactions that spread over decades, as text.
func latencies(t testing.TB, n int, seed uint64) string {
	t.Helper()
	r, h := rand.New(rand.NewPCG(seed, 1)), histogram.New()
	for range n {
		if err := h.Record(int64(100 + 1e6*r.ExpFloat64()*r.Float64())); err != nil {
			t.Fatal(err)
		}
	}
	text, err := h.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sample run with every field set.
func sample(t testing.TB, seconds int) Run {
	t.Helper()
	steal, wall := 0.25, time.Minute
	stalls := validity.Stalls{CPU: 1, IO: 2, Memory: 3}
	run := Run{
		Clients: 4, Repeat: 2, Durability: v1alpha1.DurabilityLocal, Start: time.Date(2026, 5, 1, 12, 0, 0, 7, time.UTC),
		Result:    &pgbench.Result{Script: "<builtin: TPC-B (sort of)>", Clients: 4, TPS: 812.25, Counts: pgbench.Counts{Transactions: 9}},
		Latencies: latencies(t, 1000, 1), SamplingRate: 0.5,
		Facts: validity.Facts{
			Duration: time.Minute, WallDuration: &wall,
			Flush:    &validity.Flush{Measured: 1, Floor: 2, Source: "a disk"},
			Dataset:  &validity.Dataset{Size: 1, SharedBuffers: 2, Cache: 3, CacheIsARC: true},
			Client:   &validity.Client{CPU: 1, Processors: 0.5, Threads: 2},
			Pods:     []validity.Pod{{Name: "runner", Periods: 1, Throttled: 2, ThrottledTime: 3, Quota: new(0.5), Declared: new(0.5), Stalled: &stalls}},
			Nodes:    []validity.Node{{Name: "n1", Steal: &steal, Stalled: &stalls}},
			Server:   &validity.Server{Checkpoints: 1, CheckpointTimeout: 2, Autovacuums: []string{"a"}, Backups: []string{"b"}},
			Workload: validity.Workload{Writes: true},
		},
	}
	run.Settings = fingerprint.Settings{}
	run.Settings.Set(fingerprint.Postgres, "shared_buffers", "16384")
	r := rand.New(rand.NewPCG(1, 2))
	for i := range seconds {
		run.Seconds = append(run.Seconds, pgbench.Progress{
			At: time.Duration(i+1) * time.Second, TPS: 1000 * r.Float64(), LatencyAvg: r.Float64(), LatencyStddev: r.Float64(), Failed: 1,
		})
	}
	return run
}

func encode(t testing.TB, r Record) map[string][]byte {
	t.Helper()
	data, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(data[Key]); n > MaxEncoded || len(data) != 1 {
		t.Fatalf("%d bytes in %d keys", n, len(data))
	}
	return data
}

func roundTrip(t testing.TB, r Record) Record {
	t.Helper()
	back, err := Decode(encode(t, r))
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func TestRoundTrip(t *testing.T) {
	bytesOf := 8192.5
	failed := Run{Clients: 1, Repeat: 1, Durability: v1alpha1.DurabilityAsync, Failure: "pgbench: no route"}
	for name, r := range map[string]Record{
		"empty": {Version: Version},
		"whole": {
			Version: Version, Attempt: "pod", Runs: []Run{sample(t, 3), failed},
			Layers: []Layer{{Name: "wal", Method: "pg_test_fsync", Over: "device", Milliseconds: []float64{1.5, 2}, Bytes: &bytesOf, Flushes: &bytesOf, Requests: &bytesOf}},
		},
	} {
		if diff := cmp.Diff(r, roundTrip(t, r)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// What is added to the facts later is in a record too, or this fails.
func TestSampleIsWhole(t *testing.T) {
	run := sample(t, 1)
	v := reflect.ValueOf(run.Facts)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("the sample has no %s", v.Type().Field(i).Name)
		}
	}
}

func TestAnalysis(t *testing.T) {
	recorded := sample(t, 3)
	run, err := roundTrip(t, Record{Runs: []Run{recorded}}).Runs[0].Trial("a", 5)
	if err != nil {
		t.Fatal(err)
	}
	if run.Variant != "a" || run.Repeat != 5 || run.Tier != v1alpha1.DurabilityLocal || run.Result.TPS != 812.25 || len(run.Seconds) != 3 || run.Latencies.Count() != 1000 {
		t.Errorf("%+v", run)
	}
	if diff := cmp.Diff(recorded.Facts, run.Facts); diff != "" {
		t.Error(diff)
	}
	if run, err := (Run{Failure: "x"}).Trial("a", 1); err != nil || run.Latencies != nil || run.Failure != "x" {
		t.Errorf("%+v %v", run, err)
	}
	if _, err := (Run{Latencies: "x"}).Trial("a", 1); err == nil {
		t.Error("latencies that are none were taken")
	}
}

// A day of seconds fits when neighbours are put together, and their sums stay.
func TestThinned(t *testing.T) {
	long := sample(t, 24*60*60)
	back := roundTrip(t, Record{Runs: []Run{long, sample(t, 1)}})
	if back.Thinned < 2 || back.WithoutLatencies {
		t.Fatalf("thinned %d, without latencies %t", back.Thinned, back.WithoutLatencies)
	}
	got := back.Runs[0].Seconds
	if want := (len(long.Seconds) + back.Thinned - 1) / back.Thinned; len(got) != want {
		t.Errorf("%d lines, not %d", len(got), want)
	}
	sum := func(lines []pgbench.Progress) (transactions float64, failed int64) {
		var since time.Duration
		for _, p := range lines {
			transactions += p.TPS * (p.At - since).Seconds()
			failed += p.Failed
			since = p.At
		}
		return transactions, failed
	}
	wantCount, wantFailed := sum(long.Seconds)
	gotCount, gotFailed := sum(got)
	if diff := cmp.Diff([]float64{wantCount, float64(wantFailed)}, []float64{gotCount, float64(gotFailed)}, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Error(diff)
	}
	if got[len(got)-1].At != long.Seconds[len(long.Seconds)-1].At {
		t.Errorf("it ends at %s", got[len(got)-1].At)
	}
}

// The largest benchmark that the API takes has its figures in a record, whatever
// else it must leave out.
func TestLargest(t *testing.T) {
	// Eight texts in turn are further apart than gzip looks back.
	var texts []string
	for i := range uint64(8) {
		texts = append(texts, latencies(t, 20000, i))
	}
	var r Record
	for i := range MaxRuns {
		run := sample(t, 100)
		run.Latencies = texts[i%len(texts)]
		r.Runs = append(r.Runs, run)
	}
	back := roundTrip(t, r)
	if !back.WithoutLatencies || back.Thinned == 0 || len(back.Runs) != MaxRuns || back.Runs[7].Result.TPS != 812.25 {
		t.Errorf("thinned %d, without latencies %t, %d runs", back.Thinned, back.WithoutLatencies, len(back.Runs))
	}
	if r.Runs[0].Latencies == "" || len(r.Runs[0].Seconds) != 100 {
		t.Error("the caller's record was thinned")
	}
}

func TestEncodeRefuses(t *testing.T) {
	if _, err := Encode(Record{Runs: make([]Run, MaxRuns+1)}); err == nil || !strings.Contains(err.Error(), "320") {
		t.Error(err)
	}
	long := make([]byte, 2*MaxEncoded)
	for i := range long {
		long[i] = byte('0' + rand.IntN(64))
	}
	if _, err := Encode(Record{Runs: []Run{{Failure: string(long)}}}); err == nil || !strings.Contains(err.Error(), fmt.Sprint(MaxEncoded)) {
		t.Error(err)
	}
}

func packed(t testing.TB, text string) map[string][]byte {
	t.Helper()
	var to bytes.Buffer
	z := gzip.NewWriter(&to)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{Key: to.Bytes()}
}

func TestDecodeRefuses(t *testing.T) {
	for want, data := range map[string]map[string][]byte{
		"there is no key":         {},
		"bytes are more than":     {Key: make([]byte, MaxEncoded+1)},
		"gzip":                    {Key: []byte(strings.Repeat("{}", 20))},
		"unpacked record exceeds": packed(t, strings.Repeat(" ", maxUnpacked+1)),
		"version 2":               packed(t, `{"version": 2, "runs": "of another form"}`),
		"version 0":               packed(t, `{}`),
		"more than 320 runs":      packed(t, `{"version": 1, "runs": [{}`+strings.Repeat(",{}", MaxRuns)+`]}`),
		"unexpected end":          packed(t, `{"version": 1`),
		"after top-level":         packed(t, `{"version": 1}{}`),
		"cannot unmarshal str":    packed(t, `{"version": 1, "runs": "none"}`),
	} {
		if _, err := Decode(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// What is decoded can be encoded, and stays what it was.
func FuzzDecode(f *testing.F) {
	whole, err := Encode(Record{Attempt: "pod", Runs: []Run{sample(f, 2)}, Layers: []Layer{{Name: "wal", Milliseconds: []float64{1}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole[Key])
	f.Add(packed(f, `{"version": 1, "runs": [{"latencies": "x"}, null]}`)[Key])
	f.Add(packed(f, `{"version": 1, "runs": null, "layers": [{"bytes": 1e308}]}`)[Key])
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := Decode(map[string][]byte{Key: raw})
		if err != nil {
			return
		}
		again, err := Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(again)
		if err != nil {
			t.Fatal(err)
		}
		if len(back.Runs) != len(r.Runs) || len(back.Layers) != len(r.Layers) || back.Attempt != r.Attempt {
			t.Errorf("%+v is %+v", r, back)
		}
		for _, run := range r.Runs {
			// An error or a run: never a panic.
			_, _ = run.Trial("v", 1)
		}
	})
}
