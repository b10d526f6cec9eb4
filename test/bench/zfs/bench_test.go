//go:build linux

package zfs

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/test/bench/harness"
	"github.com/pgstorage/pgstorage/test/bench/harness/harnesstest"
	"github.com/pgstorage/pgstorage/test/bench/measure"
	"github.com/pgstorage/pgstorage/test/bench/zfs/cell"
)

func cells(tps map[string]float64, written map[string]int64) []cell.Cell {
	var out []cell.Cell
	for round := range 3 {
		for _, durable := range []bool{true, false} {
			for _, name := range []string{cell.Default, cell.Ours} {
				out = append(out, cell.Cell{
					Sample: measure.Sample{
						Round: round, Configuration: name, Durable: durable, Clients: 4, Transactions: 10, SettleSeconds: 1, TPS: tps[name] + float64(round),
					},
					Settled: cell.Counters{WriteBytes: 10 * written[name]}, Running: cell.Counters{Flushes: 5},
				})
			}
		}
	}
	return out
}

// compared are cells in which the default reaches 100 TPS and writes 100 bytes for each
// transaction.
func compared(ours float64, written int64) []cell.Cell {
	return cells(map[string]float64{cell.Default: 100, cell.Ours: ours}, map[string]int64{cell.Default: 100, cell.Ours: written})
}

func TestFiguresAreMediansOfTheRounds(t *testing.T) {
	got := summarise(compared(250, 60)).lines[0].other
	if got.tps.Median != 101 || got.tps.Min != 100 || got.tps.Max != 102 || got.tps.Interval == nil || got.flushes.Median != 0.5 || got.bytes.Median != 100 {
		t.Errorf("the default's figures are %+v", got)
	}
}

func TestMarksAreGainAndBytesSaved(t *testing.T) {
	var out strings.Builder
	good := summarise(compared(250, 60))
	good.marks(&out)
	harnesstest.Missed(t, good.judge(), "")
	harnesstest.Contains(t, out.String(), "| relaxed | 4 | 2.49 | 2.49 (2.45 to 2.52) | 2.0 | PASS | 40% | 40% | PASS | 1.06 | 2.49 |\n")
	bad := summarise(compared(150, 61))
	harnesstest.Missed(t, bad.judge(), `missed: durable, 4 clients: 39% fewer bytes written per transaction, at least 40%
missed: relaxed, 4 clients: 1.50 x the default's TPS, at least 2.0
missed: relaxed, 4 clients: 39% fewer bytes written per transaction, at least 40%`)
	out.Reset()
	bad.marks(&out)
	harnesstest.Contains(t, out.String(), "| 2.0 | MISS | 39% | 40% | MISS | 1.03 | 1.50 |\n")
}

func TestPageHasFactsPlotsAndRuns(t *testing.T) {
	m := &measured{
		cells:      compared(250, 60),
		facts:      cell.Facts{Datasets: []string{"bench/default recordsize 128K default"}, DatabaseBytes: 5e6},
		Conditions: harness.Conditions{Accelerator: "tcg"}, parameters: map[string]string{"wal_recycle": "off"},
	}
	folder, text := harnesstest.Page(t, outcome(matrixOptions(t), m))
	harnesstest.Contains(t, text, "\nOne run of ", "An emulated processor", "wal_recycle = off\n", "a database of 5 MB")
	harnesstest.Plots(t, folder, "zfs.svg", "zfs-bytes.svg", "zfs-shape.svg")
	if err := m.saveRuns(folder); err != nil {
		t.Fatal(err)
	}
	harnesstest.Lines(t, filepath.Join(folder, "zfs.jsonl"), len(m.cells))
}

func TestBenchstatReadsTheResults(t *testing.T) {
	harnesstest.Results(t, summarise(compared(250, 60)).results(), "ZFS", 4)
}

func TestArgumentsAreChecked(t *testing.T) {
	o, err := parse([]string{"-clients", "2,8", "-rounds", "5"})
	if err != nil || !slices.Equal(o.Plan.Clients, []int{2, 8}) || o.Plan.Rounds != 5 || o.Flush != 5*time.Millisecond {
		t.Errorf("parse() = %+v, %v", o, err)
	}
	harnesstest.Rejected(t, parse, []string{"-clients", "0"}, []string{"-clients", "x"}, []string{"-rounds", "-1"}, []string{"-rounds", "0", "-repeats", "0"}, []string{"-repeats", "21"}, []string{"-matrix-clients", "0"})
}
