//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/test/bench/ceph/cell"
	"github.com/pgstorage/pgstorage/test/vm/ceph/job"
)

// cells of three rounds in which ours is worth gain.
func cells(gain float64) []cell.Cell {
	var out []cell.Cell
	for round := range 3 {
		for _, durable := range []bool{true, false} {
			for _, name := range cell.Configurations() {
				c := cell.Cell{Round: round, Configuration: name, Durable: durable, Clients: 4, Transactions: 10, TPS: 100 + float64(round), SettleSeconds: 1}
				c.Written = cell.Layers{Postgres: 1e5, Disk: 2e5}
				if name != cell.Dataset {
					c.Written = cell.Layers{Postgres: 1e5, RBD: 2e5, OSD: 4e5, Zvol: 6e5, Disk: 8e5}
				}
				if name == cell.Ours {
					c.TPS *= gain
				}
				out = append(out, c)
			}
		}
	}
	return out
}

func TestMarks(t *testing.T) {
	good := summarise(cells(1.5))
	var out strings.Builder
	good.marks(&out)
	if err := good.judge(); err != nil || !strings.Contains(out.String(), "| durable | 4 | 1.50 | 1.50 (1.50 to 1.50) | 1.5 | PASS | 1.00 |\n") {
		t.Errorf("%v\n%s", err, &out)
	}
	want := `missed: durable, 4 clients: 1.40 x the default's TPS, at least 1.5
missed: relaxed, 4 clients: 1.40 x the default's TPS, at least 1.5`
	if err := summarise(cells(1.4)).judge(); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	if summarise(nil).judge() == nil {
		t.Error("nothing measured, and nothing missed")
	}
	if half := cells(2); summarise(half[:3]).judge() == nil {
		t.Error("relaxed was not measured, and nothing missed")
	}
}

func TestTables(t *testing.T) {
	f := summarise(cells(2))
	var rates, layers strings.Builder
	f.print(&rates)
	f.printLayers(&layers)
	for _, want := range []string{"| durable | 4 | Ceph, ours | 202 (200 to 204); 197 to 207 | 2.00 |", "| relaxed | 4 | ZFS dataset | 101 (100 to 102); 99 to 103 | 1.00 |"} {
		if !strings.Contains(rates.String(), want) {
			t.Errorf("no %q in\n%s", want, &rates)
		}
	}
	for _, want := range []string{
		"| commit | clients | configuration | Postgres | RBD | OSD | zvol | disk | disk / Postgres |\n|---|---|---|---|---|---|---|---|---|\n",
		"| durable | 4 | ZFS dataset | 10.0 (10.0 to 10.0); 10.0 to 10.0 | – | – | – | 20.0 (20.0 to 20.0); 20.0 to 20.0 | 2.0 |\n",
		"| durable | 4 | Ceph, ours | 10.0 (10.0 to 10.0); 10.0 to 10.0 | 20.0 (20.0 to 20.0); 20.0 to 20.0 | 40.0 (40.0 to 40.0); 40.0 to 40.0 | 60.0 (60.0 to 60.0); 60.0 to 60.0 | 80.0 (80.0 to 80.0); 80.0 to 80.0 | 8.0 |\n",
	} {
		if !strings.Contains(layers.String(), want) {
			t.Errorf("no %q in\n%s", want, &layers)
		}
	}
}

// A page that is not there yet is made; a report takes the place of the one before it,
// and leaves what a person wrote.
func TestSave(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "benchmarks")
	m := &measured{
		cells: cells(2), facts: cell.Facts{Settings: []string{"bench/default/pvc-osd-2 volblocksize 8K"}, DatabaseBytes: 5e6},
		accelerator: "tcg", dataset: map[string]string{"wal_recycle": "off"}, ours: map[string]string{"checkpoint_timeout": "15min"},
	}
	o, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	document := filepath.Join(dir, "ceph.md")
	for range 2 {
		if err := save(dir, report(o, m, summarise(m.cells)), m); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(document, append(text, "\nWhy.\n"...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(document)
	got := string(text)
	if err != nil || !strings.HasPrefix(got, "# What the profile CephRBD is worth") || !strings.HasSuffix(got, place.End+"\n\nWhy.\n\nWhy.\n") ||
		strings.Count(got, "checkpoint_timeout = 15min") != 1 || !strings.Contains(got, "a database of 5 MB") || strings.Contains(got, "%!") {
		t.Errorf("%v\n%s", err, got)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "ceph.jsonl")); err != nil || bytes.Count(raw, []byte("\n")) != len(m.cells) {
		t.Errorf("%v\n%s", err, raw)
	}
}

// The lines are in the format that benchstat reads.
func TestBenchmarkFormat(t *testing.T) {
	var out strings.Builder
	line := regexp.MustCompile(`(?m)^BenchmarkCeph/\S+\t1(\t[0-9.]+ \S+)+$`)
	if err := summarise(cells(1)).benchmark(&out); err != nil || len(line.FindAllString(out.String(), -1)) != 6 {
		t.Errorf("%v:\n%s", err, &out)
	}
}

// Both sides have as much and as many copies, on parents of their own; only ours has
// what a profile sets.
func TestDeclared(t *testing.T) {
	o, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	dataset, ceph, err := declared(o)
	if err != nil {
		t.Fatal(err)
	}
	if dataset.Storage.Spec.Pool.Create == nil || ceph.Storage.Spec.Pool.Create != nil {
		t.Error("the pool is made by the first profile, and by no other")
	}
	if len(ceph.Sides) != 2 {
		t.Fatalf("%d sides", len(ceph.Sides))
	}
	ours, other := ceph.Sides[0], ceph.Sides[1]
	if ours.Name != job.Ours || other.Name != cell.Sides[cell.Default] || ours.Zvols.Parent == other.Zvols.Parent || ours.Zvols.DeviceClass == other.Zvols.DeviceClass ||
		ours.Zvols.Bytes != other.Zvols.Bytes || ours.Zvols.Count != other.Zvols.Count || ours.Pool.Copies != other.Pool.Copies {
		t.Errorf("%+v\n%+v", ours, other)
	}
	if other.Config != nil || other.Parameters != nil || other.Zvols.Volblocksize != 0 || len(ours.Config) == 0 || len(ours.Parameters) == 0 {
		t.Errorf("%+v\n%+v", ours, other)
	}
}

func TestParse(t *testing.T) {
	o, err := parse([]string{"-clients", "2,8", "-rounds", "5"})
	if err != nil || len(o.plan.Clients) != 2 || o.plan.Clients[1] != 8 || o.plan.Rounds != 5 || o.latency != 5*time.Millisecond {
		t.Errorf("%+v, %v", o, err)
	}
	for _, args := range [][]string{{"-clients", "0"}, {"-clients", "x"}, {"-rounds", "0"}, {"-scale", "0"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
