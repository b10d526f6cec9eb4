//go:build linux

package ceph

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/test/bench/ceph/cell"
	"github.com/pgstorage/pgstorage/test/bench/harness"
	"github.com/pgstorage/pgstorage/test/bench/harness/harnesstest"
	"github.com/pgstorage/pgstorage/test/bench/measure"
	"github.com/pgstorage/pgstorage/test/vm/ceph/job"
)

// cells of three rounds in which ours is worth gain.
func cells(gain float64) []cell.Cell {
	var out []cell.Cell
	for round := range 3 {
		for _, durable := range []bool{true, false} {
			for _, name := range cell.Configurations() {
				c := cell.Cell{Sample: measure.Sample{Round: round, Configuration: name, Durable: durable, Clients: 4, Transactions: 10, TPS: 100 + float64(round), SettleSeconds: 1}}
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

func TestMarkIsTheGainOverTheDefault(t *testing.T) {
	good := summarise(cells(1.5))
	var out strings.Builder
	good.marks(&out)
	harnesstest.Missed(t, good.judge(), "")
	harnesstest.Contains(t, out.String(), "| durable | 4 | 1.50 | 1.50 (1.50 to 1.50) | 1.5 | PASS | 1.00 |\n")
	harnesstest.Missed(t, summarise(cells(1.4)).judge(), `missed: durable, 4 clients: 1.40 x the default's TPS, at least 1.5
missed: relaxed, 4 clients: 1.40 x the default's TPS, at least 1.5`)
}

func TestWhatWasNotMeasuredMissesItsMark(t *testing.T) {
	if err := summarise(nil).judge(); err == nil {
		t.Error("no cell was measured, and no mark is missed")
	}
	if err := summarise(cells(2)[:3]).judge(); err == nil {
		t.Error("no relaxed cell was measured, and no mark is missed")
	}
}

func TestTablesHaveRatesAndBytesOfEachLayer(t *testing.T) {
	f := summarise(cells(2))
	var rates, layers strings.Builder
	f.print(&rates)
	f.printLayers(&layers)
	harnesstest.Contains(t, rates.String(), "| durable | 4 | Ceph, ours | 202 (200 to 204); 197 to 207 | 2.00 |", "| relaxed | 4 | ZFS dataset | 101 (100 to 102); 99 to 103 | 1.00 |")
	harnesstest.Contains(t, layers.String(),
		"| commit | clients | configuration | Postgres | RBD | OSD | zvol | disk | disk / Postgres |\n|---|---|---|---|---|---|---|---|---|\n",
		"| durable | 4 | ZFS dataset | 10.0 (10.0 to 10.0); 10.0 to 10.0 | – | – | – | 20.0 (20.0 to 20.0); 20.0 to 20.0 | 2.0 |\n",
		"| durable | 4 | Ceph, ours | 10.0 (10.0 to 10.0); 10.0 to 10.0 | 20.0 (20.0 to 20.0); 20.0 to 20.0 | 40.0 (40.0 to 40.0); 40.0 to 40.0 | 60.0 (60.0 to 60.0); 60.0 to 60.0 | 80.0 (80.0 to 80.0); 80.0 to 80.0 | 8.0 |\n")
}

func TestPageHasFactsAndRuns(t *testing.T) {
	m := &measured{
		cells: cells(2), facts: cell.Facts{Settings: []string{"bench/default/pvc-osd-2 volblocksize 8K"}, DatabaseBytes: 5e6},
		Conditions: harness.Conditions{Accelerator: "tcg"}, dataset: map[string]string{"wal_recycle": "off"}, ours: map[string]string{"checkpoint_timeout": "15min"},
	}
	lab, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	folder, text := harnesstest.Page(t, outcome(lab, m))
	harnesstest.Contains(t, text, "\nOne run of ", "An emulated processor", "checkpoint_timeout = 15min\n", "a database of 5 MB")
	harnesstest.Lines(t, filepath.Join(folder, "ceph.jsonl"), len(m.cells))
}

func TestBenchstatReadsTheResults(t *testing.T) {
	harnesstest.Results(t, summarise(cells(1)).results(), "Ceph", 6)
}

// Both sides have the same sizes and copies, on different parents. Only ours has what a
// profile sets.
func TestSidesDifferOnlyInWhatAProfileSets(t *testing.T) {
	lab, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	dataset, ceph, err := declared(lab)
	if err != nil {
		t.Fatal(err)
	}
	if dataset.Storage.Spec.Pool.Create == nil || ceph.Storage.Spec.Pool.Create != nil {
		t.Errorf("the pool is created by %+v and %+v, want the first profile alone", dataset.Storage.Spec.Pool.Create, ceph.Storage.Spec.Pool.Create)
	}
	if len(ceph.Sides) != 2 {
		t.Fatalf("%d sides, want 2", len(ceph.Sides))
	}
	ours, other := ceph.Sides[0], ceph.Sides[1]
	if ours.Name != job.Ours || other.Name != cell.Sides[cell.Default] || ours.Zvols.Parent == other.Zvols.Parent || ours.Zvols.DeviceClass == other.Zvols.DeviceClass ||
		ours.Zvols.Bytes != other.Zvols.Bytes || ours.Zvols.Count != other.Zvols.Count || ours.Pool.Copies != other.Pool.Copies {
		t.Errorf("ours is %+v\nthe other %+v", ours, other)
	}
	if other.Config != nil || other.Parameters != nil || other.Zvols.Volblocksize != 0 || len(ours.Config) == 0 || len(ours.Parameters) == 0 {
		t.Errorf("ours is %+v\nthe other %+v", ours, other)
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	lab, err := parse([]string{"-clients", "2,8", "-rounds", "5"})
	if err != nil || !slices.Equal(lab.Plan.Clients, []int{2, 8}) || lab.Plan.Rounds != 5 || lab.Flush != 5*time.Millisecond {
		t.Errorf("parse() = %+v, %v", lab, err)
	}
	harnesstest.Rejected(t, parse, []string{"-clients", "0"}, []string{"-clients", "x"}, []string{"-rounds", "0"}, []string{"-scale", "0"})
}
