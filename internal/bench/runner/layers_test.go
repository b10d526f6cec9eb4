package runner

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/commitcost"
	"github.com/pgstorage/pgstorage/internal/bench/record"
	"github.com/pgstorage/pgstorage/internal/bench/runner/machine"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
)

// withLayers is a short benchmark with a scratch volume that is a folder. On a busy machine pgbench
// may finish no transaction in a second.
func withLayers(t *testing.T, pgbench string) spec.Spec {
	t.Helper()
	s := parsed(t, `{"cluster": "shop", "durability": "Local", "pgbench": `+pgbench+`, "layers": {"duration": "3s", "repeats": 2,
		"scratch": [{"layer": "Volume", "storageClass": "fast", "dir": "/scratch"}]}}`)
	s.Layers.Scratch[0].Dir = t.TempDir()
	return s
}

const shortBenchmark = `{"scale": 1, "clients": [2], "transactions": 20, "integrity": "Basic"}`

func byName(all []v1alpha1.BenchmarkLayer) map[string]v1alpha1.BenchmarkLayer {
	out := map[string]v1alpha1.BenchmarkLayer{}
	for _, l := range all {
		out[l.Name] = l
	}
	return out
}

func TestLayersOfTheStorage(t *testing.T) {
	p := sharedPostgres(t)
	database := p.database(t)
	s := withLayers(t, shortBenchmark)
	s.Layers.FioResult = filepath.Join(t.TempDir(), "fio.json")
	raw, err := json.Marshal(FioResult{{Layer: record.Layer{Name: v1alpha1.LayerVolume, Method: "fio", Milliseconds: []float64{0.5, 0.6}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Layers.FioResult, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	runner, rec := p.runner(t, s)
	keeper := &kept{}
	runner.Keeper = keeper
	outcome, err := runner.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	report := outcome.Report
	got := byName(report.Layers)
	for _, name := range []string{v1alpha1.LayerVolume, v1alpha1.LayerWALFlush, v1alpha1.LayerUnlogged, v1alpha1.LayerLogged} {
		if l := got[name]; len(l.MillisecondsOfRepeats) != 2 || l.Milliseconds == "" || l.Method == "" {
			t.Errorf("%s: %+v", name, l)
		}
	}
	// A transaction of pgbench writes some hundred bytes of WAL, and now and then a
	// whole page.
	flush := got[v1alpha1.LayerWALFlush]
	if flush.BytesPerTransaction == "" || flush.BytesPerTransaction == "0" || flush.FlushesPerTransaction == "" || flush.FlushesPerTransaction == "0.00" {
		t.Errorf("WAL was not counted: %+v", flush)
	}
	if !strings.Contains(flush.Method, "fdatasync") || !strings.Contains(flush.Method, "StorageClass fast") {
		t.Error(flush.Method)
	}
	if !strings.HasPrefix(report.LayersVerdict, "a transaction of one of 2 clients takes") || !strings.Contains(report.LayersVerdict, "the flush of the WAL takes") {
		t.Error(report.LayersVerdict)
	}
	if report.Phase != PhaseSucceeded || len(report.Results) != 1 || results(report.Integrity)[CheckInvariants] != Passed {
		t.Errorf("the benchmark itself: %+v", report)
	}
	if phase := firstPhase(rec); phase != PhaseMeasuringLayers {
		t.Errorf("it began with %s", phase)
	}
	leftNothing(t, p, database, s.Layers.Scratch[0].Dir)
	// They are kept before the first run, and the flush judges each run.
	first, last := keeper.record(t, 0), keeper.record(t, len(keeper.data)-1)
	if len(first.Runs) != 0 || len(first.Layers) < 4 || len(last.Runs) != 1 || len(last.Layers) != len(first.Layers) {
		t.Errorf("records of %d and %d layers", len(first.Layers), len(last.Layers))
	}
	kept := map[string]record.Layer{}
	for _, l := range last.Layers {
		kept[l.Name] = l
	}
	if l := kept[v1alpha1.LayerWALFlush]; l.Over != v1alpha1.LayerVolume || len(l.Milliseconds) != 2 || l.Bytes == nil || l.Requests == nil || l.Flushes == nil {
		t.Errorf("%+v", l)
	}
	if l := kept[v1alpha1.LayerLogged]; l.Over != v1alpha1.LayerWALFlush {
		t.Errorf("%+v", l)
	}
	// On a file system of memory or of an overlay no device counts.
	if l, found := kept[v1alpha1.LayerDevice]; found && (l.Bytes == nil || *l.Bytes <= 0 || len(l.Milliseconds) > 0 || !strings.Contains(l.Method, "block device")) {
		t.Errorf("%+v", l)
	}
	if f := last.Runs[0].Facts.Flush; f == nil || f.Measured <= 0 || f.Floor != 0 {
		t.Errorf("the time of a flush: %+v", f)
	}
}

func firstPhase(rec *recorder) string {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return rec.reports[0].Phase
}

// leftNothing: neither schemas nor files of the layers stay.
func leftNothing(t *testing.T, p *postgres, database, scratch string) {
	t.Helper()
	out, err := p.Command(t.Context(), "psql", "-XAtq", "-h", p.Dir, "-U", "postgres", "-d", database, "-c",
		"SELECT nspname FROM pg_namespace WHERE nspname LIKE 'pgstorage%'").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "" {
		t.Errorf("schemas: %s (%v)", out, err)
	}
	if files, err := filepath.Glob(scratch + "/*"); err != nil || len(files) > 0 {
		t.Errorf("files: %v (%v)", files, err)
	}
}

func TestLayersThatCannotBeMeasured(t *testing.T) {
	p := sharedPostgres(t)
	for name, tc := range map[string]struct {
		pgbench string
		change  func(*spec.Spec)
		// notes by layer; those without one were measured.
		notes map[string]string
	}{
		"no volume": {shortBenchmark, func(s *spec.Spec) {
			s.Layers.Scratch, s.Layers.NoScratch = nil, "StorageClass kept has reclaimPolicy Retain"
		}, map[string]string{v1alpha1.LayerVolume: "reclaimPolicy Retain", v1alpha1.LayerWALFlush: "reclaimPolicy Retain"}},
		"no fio": {`{"scale": 1, "clients": [1], "transactions": 20, "integrity": "Basic", "script": "SelectOnly"}`, nil, map[string]string{
			v1alpha1.LayerVolume: "spec.layers.fioImage is not set", v1alpha1.LayerUnlogged: "SelectOnly writes nothing", v1alpha1.LayerLogged: "SelectOnly writes nothing",
		}},
		"nowhere": {shortBenchmark, func(s *spec.Spec) {
			s.Layers.FioResult, s.Layers.Scratch[0].Dir = "/nowhere/fio.json", "/nowhere"
		}, map[string]string{v1alpha1.LayerVolume: "fio left no result", v1alpha1.LayerWALFlush: "could not open output file"}},
	} {
		t.Run(name, func(t *testing.T) {
			p.database(t)
			s := withLayers(t, tc.pgbench)
			if tc.change != nil {
				tc.change(&s)
			}
			runner, _ := p.runner(t, s)
			outcome, err := runner.Run(t.Context())
			if err != nil {
				t.Fatal("the benchmark did not go on:", err)
			}
			timed := 0
			for _, l := range outcome.Report.Layers {
				if slices.Contains(commitcost.Counted(), l.Name) {
					continue
				}
				timed++
				want := tc.notes[l.Name]
				if (l.Milliseconds == "") != (want != "") || !strings.Contains(l.Note, want) {
					t.Errorf("want %q: %+v", want, l)
				}
			}
			if timed != 4 {
				t.Errorf("%+v", outcome.Report.Layers)
			}
		})
	}
}

func TestLayersAreInterrupted(t *testing.T) {
	p := sharedPostgres(t)
	p.database(t)
	s := withLayers(t, shortBenchmark)
	s.Layers.Duration = "1h"
	runner, rec := p.runner(t, s)
	ctx, stop := context.WithCancel(t.Context())
	rec.seen = func(r RunStatus) {
		if strings.HasPrefix(r.Message, v1alpha1.LayerWALFlush) {
			stop()
		}
	}
	began := time.Now()
	_, err := runner.Run(ctx)
	wantReason(t, err, rec, ReasonInterrupted)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("took %s to stop", took)
	}
	if files, err := filepath.Glob(s.Layers.Scratch[0].Dir + "/*"); err != nil || len(files) > 0 {
		t.Errorf("files: %v (%v)", files, err)
	}
}

func TestFio(t *testing.T) {
	if _, err := exec.LookPath("fio"); err != nil {
		t.Skip("no fio here: install the package fio")
	}
	s := withLayers(t, shortBenchmark)
	s.Layers.FioResult = filepath.Join(t.TempDir(), "fio.json")
	if err := Fio(t.Context(), s, slog.New(slog.NewTextHandler(t.Output(), nil))); err != nil {
		t.Fatal(err)
	}
	found, err := readFioResult(s.Layers.FioResult)
	if err != nil || len(found) != 1 || len(found[0].Milliseconds) != 2 || found[0].Milliseconds[0] <= 0 || found[0].Note != "" {
		t.Errorf("%+v %v", found, err)
	}
	for _, dir := range []string{s.Layers.Scratch[0].Dir, filepath.Dir(s.Layers.FioResult)} {
		left, err := filepath.Glob(dir + "/*")
		left = slices.DeleteFunc(left, func(path string) bool { return path == s.Layers.FioResult })
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	}
}

func TestFioThatIsNotThere(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	s := withLayers(t, shortBenchmark)
	s.Layers.FioResult = filepath.Join(t.TempDir(), "fio.json")
	if err := Fio(t.Context(), s, slog.New(slog.NewTextHandler(t.Output(), nil))); err != nil {
		t.Fatal(err)
	}
	found, err := readFioResult(s.Layers.FioResult)
	if err != nil || len(found) != 1 || found[0].Measured() || !strings.Contains(found[0].Note, "has no fio on its PATH") {
		t.Errorf("%+v %v", found, err)
	}
	s.Layers.FioResult = ""
	if err := Fio(t.Context(), s, slog.New(slog.NewTextHandler(t.Output(), nil))); err == nil {
		t.Error("want an error")
	}
}

// What another container wrote is not trusted further than its figures.
func TestFioResultOfAnotherForm(t *testing.T) {
	for name, tc := range map[string]struct{ text, note string }{
		"no JSON":             {`hello`, "fio left no result: invalid character"},
		"another layer":       {`[{"name": "WALFlush", "milliseconds": [1, 2]}]`, "fio left no result of it"},
		"fewer repeats":       {`[{"name": "Volume", "milliseconds": [1]}]`, "fio left no result of it"},
		"more than there are": {`[{"name": "Volume", "milliseconds": [1, 2, 3]}]`, "fio left no result of it"},
		"figures of no test":  {`[{"name": "Volume", "milliseconds": [1, -2]}]`, "fio left no result of it"},
		"a failure":           {`[{"name": "Volume", "Note": "no space left"}]`, "no space left"},
		"a figure":            {`[{"name": "Volume", "milliseconds": [1, 2]}]`, ""},
		"too long":            {`["` + strings.Repeat("x", maxFioResult) + `"]`, "fio left no result: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			s := withLayers(t, shortBenchmark)
			s.Layers.FioResult = filepath.Join(t.TempDir(), "fio.json")
			if err := os.WriteFile(s.Layers.FioResult, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			l := &layering{spec: s.Layers}
			l.readFio()
			if len(l.volumes) != 1 || l.volumes[0].Measured() != (tc.note == "") || !strings.HasPrefix(l.volumes[0].Note, tc.note) {
				t.Errorf("%+v", l.volumes)
			}
		})
	}
}

func TestUseOfTransactions(t *testing.T) {
	of := func(bytes, flushes float64) counted {
		return counted{"here", "", machine.Written{Bytes: bytes, Requests: flushes / 2, Flushes: &flushes}}
	}
	var u use
	u.add(of(1000, 10), of(3000, 14), 4)
	u.add(of(3000, 14), of(3600, 16), 2)
	u.add(counted{"here", "", machine.Written{Bytes: 3600, Requests: 8}}, counted{"here", "", machine.Written{Bytes: 4200, Requests: 9}}, 2)
	u.add(of(4200, 20), of(10, 0), 5) // the statistics were reset
	u.add(of(0, 0), counted{"there", "", machine.Written{Bytes: 1e9}}, 5)
	bytes, requests, flushes := each(u.bytes, u.transactions), each(u.requests, u.transactions), each(u.flushes, u.flushed)
	if *bytes != 400 || *requests != 0.5 || *flushes != 1 || u.method != "here" {
		t.Errorf("%v bytes, %v requests and %v flushes by %s", *bytes, *requests, *flushes, u.method)
	}
	if each(0, 0) != nil {
		t.Error("nothing was counted")
	}
}

func TestLineWriter(t *testing.T) {
	var got []string
	w := &lineWriter{line: func(line string) { got = append(got, line) }}
	for _, part := range []string{"a", "b\nc\n", "", "\nd"} {
		if _, err := w.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"ab", "c", ""}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := w.Write(make([]byte, maxLine)); err == nil {
		t.Error("a line without an end is kept")
	}
}

// A failure drops the figures of earlier repeats: they are fewer than requested.
func TestLayerThatFailsLater(t *testing.T) {
	p := &postgres{}
	runner, _ := p.runner(t, withLayers(t, shortBenchmark))
	l := &layering{execution: &execution{Runner: runner, budget: newBudget(runner.Spec), publish: func(RunStatus) {}}, spec: runner.Spec.Layers}
	var layer commitcost.Measurement
	tries := 0
	once := func(context.Context) (time.Duration, error) {
		if tries++; tries == 2 {
			return 0, os.ErrDeadlineExceeded
		}
		return time.Millisecond, nil
	}
	for repeat := range 3 {
		l.measure(t.Context(), &layer, repeat, once)
	}
	if layer.Measured() || !strings.HasPrefix(layer.Note, "repeat 2: ") || tries != 2 {
		t.Errorf("%+v after %d tries", layer, tries)
	}
}
