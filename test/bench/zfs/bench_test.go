//go:build linux

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/test/bench/zfs/cell"
)

func cells(tps map[string]float64, written map[string]int64) []cell.Cell {
	var out []cell.Cell
	for round := range 3 {
		for _, durable := range []bool{true, false} {
			for _, name := range []string{cell.Default, cell.Ours} {
				out = append(out, cell.Cell{
					Round: round, Configuration: name, Durable: durable, Clients: 4, Transactions: 10, SettleSeconds: 1,
					TPS: tps[name] + float64(round), Settled: cell.Counters{WriteBytes: 10 * written[name]}, Running: cell.Counters{Flushes: 5},
				})
			}
		}
	}
	return out
}

func TestMarks(t *testing.T) {
	good := summarise(cells(map[string]float64{cell.Default: 100, cell.Ours: 250}, map[string]int64{cell.Default: 100, cell.Ours: 60}))
	if got := good.lines[0].other; got.tps.Median != 101 || got.tps.Min != 100 || got.tps.Max != 102 || got.tps.Interval == nil || got.flushes.Median != 0.5 || got.bytes.Median != 100 {
		t.Errorf("%+v", got)
	}
	var out strings.Builder
	good.marks(&out)
	if err := good.judge(); err != nil || !strings.Contains(out.String(), "| relaxed | 4 | 2.49 | 2.49 (2.45 to 2.52) | 2.0 | PASS | 40% | 40% | PASS | 1.06 | 2.49 |\n") {
		t.Errorf("%v\n%s", err, &out)
	}
	bad := summarise(cells(map[string]float64{cell.Default: 100, cell.Ours: 150}, map[string]int64{cell.Default: 100, cell.Ours: 61}))
	want := `missed: durable, 4 clients: 39% fewer bytes written per transaction, at least 40%
missed: relaxed, 4 clients: 1.50 x the default's TPS, at least 2.0
missed: relaxed, 4 clients: 39% fewer bytes written per transaction, at least 40%`
	if err := bad.judge(); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	out.Reset()
	if bad.marks(&out); !strings.Contains(out.String(), "| 2.0 | MISS | 39% | 40% | MISS | 1.03 | 1.50 |\n") {
		t.Errorf("%s", &out)
	}
}

// A report takes the place of the one before it, and leaves what a person wrote.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	document := filepath.Join(dir, "zfs.md")
	if err := os.WriteFile(document, []byte("# Title\n\n"+place.Begin+"\nold\n"+place.End+"\n\nWhy.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &measured{
		cells:       cells(map[string]float64{cell.Default: 100, cell.Ours: 250}, map[string]int64{cell.Default: 100, cell.Ours: 60}),
		facts:       cell.Facts{Datasets: []string{"bench/default recordsize 128K default"}, DatabaseBytes: 5e6},
		accelerator: "tcg", parameters: map[string]string{"wal_recycle": "off"},
	}
	f := summarise(m.cells)
	o, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := errors.Join(m.keep(dir), write(dir, page(o, m, f), f)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"zfs.svg", "zfs-bytes.svg", "zfs-shape.svg"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Contains(text, []byte("<svg")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	text, err := os.ReadFile(document)
	got := string(text)
	if err != nil || !strings.HasPrefix(got, "# Title\n\n"+place.Begin+"\nOne run of ") || !strings.HasSuffix(got, place.End+"\n\nWhy.\n") ||
		strings.Contains(got, "old") || strings.Count(got, "wal_recycle = off") != 1 || !strings.Contains(got, "a database of 5 MB") {
		t.Errorf("%v\n%s", err, got)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "zfs.jsonl")); err != nil || bytes.Count(raw, []byte("\n")) != len(m.cells) {
		t.Errorf("%v\n%s", err, raw)
	}
	if err := os.WriteFile(document, []byte("# Title\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := place.Write(document, "text"); err == nil {
		t.Error("no place for the report, no error")
	}
}

// The lines are in the format that benchstat reads.
func TestBenchmarkFormat(t *testing.T) {
	var out strings.Builder
	f := summarise(cells(map[string]float64{cell.Default: 100, cell.Ours: 250}, map[string]int64{cell.Default: 100, cell.Ours: 60}))
	line := regexp.MustCompile(`(?m)^BenchmarkZFS/\S+\t1(\t[0-9.]+ \S+)+$`)
	if err := f.benchmark(&out); err != nil || len(line.FindAllString(out.String(), -1)) != 4 {
		t.Errorf("%v:\n%s", err, &out)
	}
}

func TestParse(t *testing.T) {
	o, err := parse([]string{"-clients", "2,8", "-rounds", "5"})
	if err != nil || len(o.plan.Clients) != 2 || o.plan.Clients[1] != 8 || o.plan.Rounds != 5 || o.latency != 5*time.Millisecond {
		t.Errorf("%+v, %v", o, err)
	}
	for _, args := range [][]string{{"-clients", "0"}, {"-clients", "x"}, {"-rounds", "-1"}, {"-rounds", "0", "-repeats", "0"}, {"-repeats", "21"}, {"-matrix-clients", "0"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
