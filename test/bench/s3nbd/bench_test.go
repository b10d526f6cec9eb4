//go:build linux

package s3nbd

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
	"github.com/pgstorage/pgstorage/internal/testing/s3"
	"github.com/pgstorage/pgstorage/test/bench/harness"
	"github.com/pgstorage/pgstorage/test/bench/harness/harnesstest"
)

// run of three rounds in which commit_delay is worth gain, and reads cost gets of
// 1,000 transactions.
func measuredRun(gain float64, gets int64) *measured {
	m := &measured{Conditions: harness.Conditions{Accelerator: "tcg"}, parameters: map[string]string{"wal_recycle": "off"}}
	m.facts = Facts{Versions: "ZeroFS 1", DatabaseBytes: 5e6, SharedBuffers: "64MB", Flush: 90 * time.Millisecond, Derived: 15000, Siblings: 1, Datasets: []string{"lake/x recordsize 8K local"}}
	b := bench{options: options{clients: harness.Clients{1, 16}}, measured: *m}
	for round := range 3 {
		for _, c := range b.runs() {
			c.Round, c.TPS, c.Transactions = round, 50+float64(round), 100
			if c.Configuration == Durable {
				c.TPS *= gain
			}
			c.Disk.Flushes, c.Disk.FlushMillis, c.WALSyncs, c.Sent = 25, 2500, 20, 5e5
			c.Requests = map[string]int{"PUT": 50, "GET": 25, "LIST": 25, "DELETE": 3, "HEAD": 4}
			m.cells = append(m.cells, c)
		}
	}
	for turn := range 3 {
		for _, c := range []Cell{
			{Configuration: Undelayed, Siblings: 5, TPS: 10},
			{Configuration: Durable, DelayMicros: 15000, Siblings: 1, TPS: 10 * gain * []float64{1.25, 1, 0.8}[turn]},
			{Configuration: tried, DelayMicros: 9000, Siblings: 1, TPS: 10},
		} {
			c.Host, c.Round, c.Clients, c.Transactions, c.WALSyncs = true, turn, delayed, 100, 10
			m.cells = append(m.cells, c)
		}
	}
	for run, variant := range []string{inARC, outOfARC, inL2ARC} {
		m.reads = append(m.reads, Read{Variant: variant, Run: run, TPS: 10, Transactions: 1000, Blocks: 2000, Hits: 90, Misses: 10, Hits2: 5, DeviceReads: 20, Gets: gets})
	}
	return m
}

func TestMarksAreTheGainOfDelaysAndReadsThatReachTheStore(t *testing.T) {
	var out strings.Builder
	good := summarise(measuredRun(1.6, 9))
	good.marks(&out)
	harnesstest.Missed(t, good.judge(), "")
	harnesstest.Contains(t, out.String(), "| 1.60 (0.92 to 2.79) | at least 1.5 | PASS |\n")
	if got := strings.Count(out.String(), "| PASS |"); got != 3 {
		t.Errorf("%d marks are met, want 3:\n%s", got, &out)
	}
	harnesstest.Missed(t, summarise(measuredRun(1.4, 10)).judge(), `missed: durable TPS with 16 clients, derived commit_delay against commit_delay=0, on the host's processors: 1.40 (0.80 to 2.44), at least 1.5
missed: reads of a repeated read-only pgbench that reach the store, ARC: 1.000% of the transactions, 0.500% of the blocks read; worst run 1.000%, 0.500%, under 1%
missed: reads of a repeated read-only pgbench that reach the store, small ARC and L2ARC: 1.000% of the transactions, 0.500% of the blocks read; worst run 1.000%, 0.500%, under 1%`)
	if figures := summarise(&measured{}); figures.judge() == nil {
		t.Error("nothing was measured, and no mark is missed")
	}
}

func TestFiguresAreMediansPerCommit(t *testing.T) {
	f := summarise(measuredRun(2, 0))
	l := at(f.lines, Durable)
	if l.tps.Median != 102 || l.tps.Min != 100 || l.tps.Max != 104 || l.flushes.Median != 0.25 || l.flushTime.Median != 100 || l.requests["PUT"].Median != 0.5 || l.requests[others].Median != 0.07 || l.sent.Median != 5000 {
		t.Errorf("%+v", l)
	}
	var delays []string
	for _, l := range f.delays() {
		delays = append(delays, fmt.Sprintf("%d/%d", l.delay, l.siblings))
	}
	if want := []string{"0/5", "9000/1", "15000/1"}; !slices.Equal(delays, want) {
		t.Errorf("%v, want %v", delays, want)
	}
	if got := harness.Ratio(gain(at(f.host, Durable), at(f.host, Undelayed))); got != "2.00 (1.15 to 3.48)" {
		t.Error(got)
	}
	if got := harness.Ratio(gain(line{}, line{})); got != "too few runs" {
		t.Error(got)
	}
}

func TestPageHasFactsPlotsAndRuns(t *testing.T) {
	m := measuredRun(1.2, 0)
	o, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	folder, text := harnesstest.Page(t, outcome(o, m))
	harnesstest.Contains(t, text, "\nOne run of ", "An emulated processor", "wal_recycle = off\n", "a database of 5 MB")
	harnesstest.Plots(t, folder, "s3nbd.svg", "s3nbd-delay.svg")
	harnesstest.Lines(t, filepath.Join(folder, "s3nbd.jsonl"), len(m.cells)+len(m.reads))
}

func TestBenchstatReadsTheResults(t *testing.T) {
	f := summarise(measuredRun(1, 0))
	harnesstest.Results(t, f.results(), "S3NBD", len(f.lines))
}

func TestArgumentsAreChecked(t *testing.T) {
	o, err := parse([]string{"-clients", "2,8", "-rounds", "5"})
	if err != nil || !slices.Equal(o.clients, harness.Clients{2, 8}) || o.rounds != 5 || o.latency != 20*time.Millisecond {
		t.Errorf("parse() = %+v, %v", o, err)
	}
	harnesstest.Rejected(t, parse, []string{"-clients", "0"}, []string{"-clients", "x"}, []string{"-rounds", "0"}, []string{"-turns", "2"}, []string{"-turn-seconds", "0"}, []string{"-latency", "-1ms"})
}

const gauged = `cpu  10 0 20 60 10 0 0 0 0 0
disk 1 0 8 5 2 0 16 5 0 0 0 0 0 0 0 3 270
arc hits 90
arc misses 10
arc l2_hits 5
arc size 1000
arc l2_asize 2000
postgres 7 700.5 42
`

const pgbenched = `transaction type: <builtin: simple update>
scaling factor: 20
query mode: prepared
number of clients: 2
number of threads: 2
duration: 5 s
number of transactions actually processed: 3
latency average = 20.000 ms
tps = 0.600000 (without initial connection time)
`

func TestRunIsReadFromItsGaugesAndLog(t *testing.T) {
	later := strings.NewReplacer("cpu  10", "cpu  90", "disk 1 0 8 5 2 0 16 5 0 0 0 0 0 0 0 3 270", "disk 2 0 16 5 4 0 32 5 0 0 0 0 0 0 0 5 470", "postgres 7 700.5", "postgres 9 900.5").Replace(gauged)
	log := "0 1 100000 0 1 1\n0 2 200000 0 1 1\n1 1 300000 0 1 1\n"
	c := Cell{}
	if err := c.read(gauged + "%%\n" + pgbenched + "%%\n" + later + "%%\n" + log); err != nil {
		t.Fatal(err)
	}
	if c.Transactions != 3 || c.Busy != 1 || c.Disk != (Disk{1, 4096, 2, 8192, 2, 200}) || c.WALSyncs != 2 || c.WALSyncTime != 200 || c.P50 < 199 || c.P50 > 201 {
		t.Errorf("%+v", c)
	}
	for _, text := range []string{"", gauged, gauged + "%%\nno report\n%%\n" + later + "%%\n", "%%\n" + pgbenched + "%%\n" + later + "%%\n"} {
		if err := c.read(text); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
	without := regexp.MustCompile(`(?m)^arc .*\n`).ReplaceAllString(gauged+"%%\n"+pgbenched+"%%\n"+later+"%%\n"+log, "")
	if err := (&Cell{Host: true}).read(without); err != nil {
		t.Error(err)
	}
	if err := (&Cell{}).read(without); err == nil {
		t.Error("a guest without an ARC: no error")
	}
}

func TestRequestsAreCountedAsAStoreBillsThem(t *testing.T) {
	c := Cell{}
	c.count(s3.Counts{
		{Call: s3.Call{Method: "PUT", Operation: "IfPutObject"}, Status: 200}:     {Requests: 3, Up: 30},
		{Call: s3.Call{Method: "PUT", Operation: "IfPutObject"}, Status: 412}:     {Requests: 1, Up: 10, Down: 1},
		{Call: s3.Call{Method: "GET", Operation: "ListObjects"}, Status: 200}:     {Requests: 2, Down: 5},
		{Call: s3.Call{Method: "GET", Operation: "GetObject"}, Status: 206}:       {Requests: 5, Down: 7},
		{Call: s3.Call{Method: "DELETE", Operation: "DeleteObject"}, Status: 204}: {Requests: 1},
	})
	if want := map[string]int{"PUT": 4, "LIST": 2, "GET": 5, "DELETE": 1}; !maps.Equal(c.Requests, want) || c.Sent != 40 || c.Received != 13 || c.requests() != 12 {
		t.Errorf("%+v", c)
	}
}

// The profile's only node reports the latency.
func TestDelayIsDerivedAsByTheOperator(t *testing.T) {
	status, err := json.Marshal(v1alpha1.PgNodeStorageStatus{FlushLatency: &metav1.Duration{Duration: 90 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	latency, delay, siblings, err := derive(repository.Root(), status)
	if err != nil || latency != 90*time.Millisecond || delay <= 0 || delay >= latency.Microseconds() || siblings != 1 {
		t.Errorf("%s, %d, %v", latency, delay, err)
	}
	if _, _, _, err := derive(repository.Root(), []byte("{}")); err == nil {
		t.Error("no latency, no error")
	}
}
