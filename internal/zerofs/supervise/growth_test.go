//go:build zerofs && linux

package supervise_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/s3"
)

const (
	growthSteps  = 5
	growthBlocks = 200
	// farAway is the time to a store of the same region.
	farAway = 20 * time.Millisecond
)

// TestRealGrowth measures what flushes cost as they add up without a pause.
func TestRealGrowth(t *testing.T) {
	report := reportTo(t)
	r, store, _ := newFaulty(t)
	data := filepath.Join(r.bucket, "prod", "node-1")
	run := r.run()
	r.up()
	d := r.disk()
	store.Fail(s3.Fault{Latency: farAway})
	var table strings.Builder
	table.WriteString("| flushes | mean | LISTs of each | KiB listed by each | manifests | newest manifest in KiB | tables | of them by compactions |\n|---|---|---|---|---|---|---|---|\n")
	for step := range growthSteps {
		store.ResetCounts()
		begin := time.Now()
		for i := range growthBlocks {
			if err := d.keep(step*growthBlocks + i); err != nil {
				t.Fatal(err)
			}
		}
		mean := time.Since(begin) / growthBlocks
		lists := store.Counts().Sum(func(o s3.Outcome) bool { return o.Operation == "ListObjects" })
		manifests, newest := entries(t, filepath.Join(data, "manifest"))
		tables, _ := entries(t, filepath.Join(data, "compacted"))
		// Each flush makes one; so did the one after the export was made.
		flushes := (step + 1) * growthBlocks
		fmt.Fprintf(&table, "| %d | %d ms | %.1f | %.0f | %d | %.1f | %d | %d |\n", flushes, mean.Milliseconds(), float64(lists.Requests)/growthBlocks,
			float64(lists.Down)/growthBlocks/1024, manifests, float64(newest)/1024, tables, tables-flushes-1)
		t.Logf("%s\n%s", &table, store.Counts())
	}
	store.Fail()
	r.stop(run)
	// 0.19 logs each compaction that it has done, with its sources.
	merged := 0
	for line := range strings.Lines(run.out.String() + run.err.String()) {
		if strings.Contains(line, "finished compaction") {
			merged += strings.Count(line, `"l0"`)
		}
	}
	fmt.Fprintf(&table, "\nAt the end, compactions had taken %d of the flushes' tables from level 0.\n", merged)
	if lost := r.again(growthSteps * growthBlocks); lost > 0 {
		t.Errorf("%d flushed blocks lost", lost)
	}
	report("growth", table.String())
}

// entries of a folder, and the size of the last one by its name.
func entries(t *testing.T, dir string) (count int, last int64) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil || len(all) == 0 {
		t.Fatal(err, dir)
	}
	info, err := all[len(all)-1].Info()
	if err != nil {
		t.Fatal(err)
	}
	return len(all), info.Size()
}
