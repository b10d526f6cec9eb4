//go:build linux

package s3nbd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
	"github.com/pgstorage/pgstorage/internal/testing/s3"
)

// Configurations that are compared.
const (
	// Durable is synchronous_commit=on with commit_delay as the operator derives it.
	Durable = "durable"
	// Undelayed is the same with commit_delay=0.
	Undelayed = "durable, commit_delay=0"
	// Relaxed is synchronous_commit=off.
	Relaxed = "relaxed"
	// tried are other values of both settings that the grouping of commits depends on.
	tried = "durable, tried"
)

const (
	// siblings is the default of commit_siblings in Postgres.
	siblings = 5
	// mostDelay of commit_delay, in µs.
	mostDelay = 100000
	// calibration is how many seconds of load a flush is measured under.
	calibration = 10
)

// runs of a round.
func (b *bench) runs() []Cell {
	var out []Cell
	for _, clients := range b.clients {
		with := func(configuration string, delay int64, siblings int) {
			out = append(out, Cell{Configuration: configuration, Clients: clients, DelayMicros: delay, Siblings: siblings})
		}
		with(Relaxed, 0, siblings)
		with(Durable, b.facts.Derived, b.facts.Siblings)
		if clients > siblings {
			with(Undelayed, 0, siblings)
		}
	}
	return out
}

// round runs every cell once. Those of one number of clients follow each other.
func (b *bench) round(ctx context.Context, round int) error {
	return b.measureAll(ctx, b.inGuest(), round, inTurn(b.runs(), round), b.seconds)
}

// inTurn are cells in the order of a round: another one is first each time, and every
// second time the last.
func inTurn(cells []Cell, round int) []Cell {
	cells = slices.Clone(cells)
	if round%2 == 1 {
		slices.Reverse(cells)
	}
	first := round % len(cells)
	return slices.Concat(cells[first:], cells[:first])
}

func (b *bench) measureAll(ctx context.Context, w workplace, round int, cells []Cell, seconds int) error {
	for _, c := range cells {
		c.Round = round
		if err := b.measure(ctx, w, &c, seconds); err != nil {
			return err
		}
		b.cells = append(b.cells, c)
		c.print()
	}
	return nil
}

func (c Cell) print() {
	fmt.Printf("%s %d  %-24s clients=%-2d delay=%-6d siblings=%d  %6.1f TPS  p50 %.0f p95 %.0f ms  %.2f flushes/commit of %.0f ms  %.2f syncs/commit of %.0f ms  %.2f requests/commit  busy %.0f%%\n",
		map[bool]string{false: "round", true: "host"}[c.Host], c.Round+1, c.Configuration, c.Clients, c.DelayMicros, c.Siblings, c.TPS, c.P50, c.P95,
		c.per(c.Disk.Flushes), c.flushTime(), c.per(c.WALSyncs), c.syncTime(), c.per(int64(c.requests())), c.Busy*100)
}

func (c Cell) per(n int64) float64 { return float64(n) / float64(max(1, c.Transactions)) }

func (c Cell) flushTime() float64 {
	return float64(c.Disk.FlushMillis) / float64(max(1, c.Disk.Flushes))
}

func (c Cell) syncTime() float64 { return c.WALSyncTime / float64(max(1, c.WALSyncs)) }

func (c Cell) requests() (sum int) {
	for _, n := range c.Requests {
		sum += n
	}
	return sum
}

// measure one run. What it leaves is written by a sync of the file system, which the
// store's counts include.
func (b *bench) measure(ctx context.Context, w workplace, c *Cell, seconds int) error {
	const log = "/tmp/transactions"
	load, err := b.load(w, *c, seconds, log)
	if err != nil {
		return err
	}
	b.store.ResetCounts()
	text, err := w.sh(ctx, w.gauge+"gauge; echo %%; "+load+"; echo %%; gauge; echo %%; cat "+log+".*; rm -f "+log+".*; "+w.settle)
	if err != nil {
		return err
	}
	c.count(b.store.ResetCounts())
	return c.read(text)
}

// load is a command of pgbench.
func (b *bench) load(w workplace, c Cell, seconds int, log string) (string, error) {
	args, err := pgbench.RunOptions{
		Scripts: []pgbench.WeightedScript{{Builtin: b.script}},
		Clients: c.Clients, Jobs: min(c.Clients, 2), Duration: time.Duration(seconds) * time.Second,
		Protocol: pgbench.Prepared, NoVacuum: true, LogPrefix: log,
	}.Args()
	commit := "on"
	if c.Configuration == Relaxed {
		commit = "off"
	}
	return w.postgres + fmt.Sprintf("env PGOPTIONS='-c synchronous_commit=%s -c commit_delay=%d -c commit_siblings=%d' pgbench %s",
		commit, c.DelayMicros, c.Siblings, strings.Join(args, " ")), err
}

// read what a run printed: a gauge, pgbench's report, another gauge, the transactions.
func (c *Cell) read(text string) error {
	part := strings.Split(text, "%%\n")
	if len(part) != 4 {
		return fmt.Errorf("a run has printed %q", text)
	}
	before, err := parseGauge(part[0], !c.Host)
	if err != nil {
		return err
	}
	result, err := pgbench.Parse(strings.NewReader(part[1]))
	if err != nil {
		return fmt.Errorf("%w: %s", err, part[1])
	}
	after, err := parseGauge(part[2], !c.Host)
	if err != nil {
		return err
	}
	log := pgbench.NewLog(pgbench.LogFormat{})
	if err := log.Read(strings.NewReader(part[3])); err != nil {
		return err
	}
	latencies := log.Summary()
	c.TPS, c.Transactions, c.P50, c.P95 = result.TPS, result.Transactions, latencies.P50, latencies.P95
	c.Busy, c.Disk = after.busySince(before), after.disk.Since(before.disk)
	c.WALSyncs, c.WALSyncTime = after.walSyncs-before.walSyncs, after.walSyncTime-before.walSyncTime
	return nil
}

func (c *Cell) count(counts s3.Counts) {
	c.Requests = map[string]int{}
	for outcome, n := range counts {
		c.Requests[kind(outcome)] += n.Requests
	}
	total := counts.Total()
	c.Sent, c.Received = total.Up, total.Down
}

// kind of a request as a store's bill has it.
func kind(o s3.Outcome) string {
	if strings.HasPrefix(o.Operation, "List") {
		return "LIST"
	}
	return o.Method
}

// calibrate has the agent measure a flush under the load of many clients without
// commit_delay, and derives commit_delay from that.
func (b *bench) calibrate(ctx context.Context) error {
	load, err := b.load(b.inGuest(), Cell{Configuration: Undelayed, Clients: delayed, Siblings: siblings}, calibration, "")
	if err != nil {
		return err
	}
	text, err := b.guest.sh(ctx, "passes -until Ready=Never -timeout 5m -every 1s "+storageFile+" >/dev/null 2>&1 & agent=$!; "+
		load+"; kill $agent; wait $agent || true; echo; cat "+statusFile)
	if err != nil {
		return err
	}
	i := strings.Index(text, "\n{")
	if i < 0 {
		return fmt.Errorf("no status of the agent: %q", text)
	}
	b.facts.Flush, b.facts.Derived, b.facts.Siblings, err = derive(repository.Root(), []byte(text[i:]))
	fmt.Printf("flush latency %s, commit_delay %d µs\n", b.facts.Flush, b.facts.Derived)
	return err
}
