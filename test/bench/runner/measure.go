//go:build linux

package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/runner"
	"github.com/pgstorage/pgstorage/internal/testing/hosttime"
	"github.com/pgstorage/pgstorage/internal/testing/postgres"
)

// database of both sides.
const database = runner.DatabasePrefix + "_runner"

// settings of the server: nothing but the load takes processors, and commits do not wait.
var settings = []string{
	"synchronous_commit=off", "shared_buffers=512MB", "max_wal_size=8GB", "checkpoint_timeout=1d", "autovacuum=off",
}

// measured has all results.
type measured struct {
	runs    []Run
	version string
	took    time.Duration
	// elsewhere is the part of the processors that other programs took, the server's
	// own taken out.
	elsewhere float64
}

// measure every pair.
func measure(ctx context.Context, o options) (_ *measured, err error) {
	begin := time.Now()
	b, stop, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	m := &measured{}
	if m.version, err = b.pgbench(ctx, []string{"--version"}); err != nil {
		return nil, err
	}
	if m.elsewhere, err = idle(ctx); err != nil {
		return nil, err
	}
	for _, block := range plan(o) {
		err := b.carryOut(ctx, block, func(r Run) {
			fmt.Printf("pair %d  %-12s  clients=%-2d  %-10s  %9.1f TPS\n", r.Pair, r.Script, r.Clients, r.Side, r.TPS)
			m.runs = append(m.runs, r)
		})
		if err != nil {
			return nil, err
		}
	}
	m.took = time.Since(begin)
	return m, nil
}

// open a server with a database for both sides, and say so in the environment, from
// which both take it.
func open(ctx context.Context, o options) (bench, func() error, error) {
	b := bench{options: o}
	server, err := postgres.Start(ctx, settings...)
	if err != nil {
		return b, nil, err
	}
	stop := server.Stop
	fail := func(err error) (bench, func() error, error) { return b, nil, errors.Join(err, stop()) }
	b.server = server
	for name, value := range map[string]string{"PGHOST": server.Dir, "PGPORT": "5432", "PGUSER": "postgres", "PGDATABASE": database} {
		if err := os.Setenv(name, value); err != nil {
			return fail(err)
		}
	}
	if err := b.sql(ctx, "postgres", "CREATE DATABASE "+database); err != nil {
		return fail(err)
	}
	if b.dir, err = os.MkdirTemp("", "bench"); err != nil {
		return fail(err)
	}
	reporter, closeReporter, err := startReporter()
	if err != nil {
		return fail(err)
	}
	b.reporter = reporter
	return b, func() error {
		closeReporter()
		return errors.Join(server.Stop(), os.RemoveAll(b.dir))
	}, nil
}

// pairsOfBlock at most: with more, what a block writes would not fit into memory.
const pairsOfBlock = 8

// block is one benchmark of the runner, in whose breaks the other sides run. All sides then
// have the same tables at the same place in memory. Two fillings differ there by more than the
// cost that the benchmark measures.
type block struct {
	script v1alpha1.Script
	// repeats of the runner, of which the first does not count.
	repeats int
	// runs in their order, those that do not count first.
	runs []Run
}

// plan of all runs. The scripts take turns, in an order by lot, and so do the sides of a
// pair, which follow each other.
func plan(o options) []block {
	random := rand.New(rand.NewPCG(o.seed, 0))
	names := slices.Sorted(maps.Keys(scripts))
	var all []block
	for first := 0; first < o.pairs; first += pairsOfBlock {
		random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, script := range names {
			all = append(all, o.block(random, script, first, min(pairsOfBlock, o.pairs-first)))
		}
	}
	return all
}

// block of pairs after the first ones. It begins with a repeat that does not count: right
// after filling everything is slower, and no other side could go before the runner.
func (o options) block(random *rand.Rand, script v1alpha1.Script, first, pairs int) block {
	b := block{script: script, repeats: 1 + pairs}
	for _, clients := range o.clients {
		b.runs = append(b.runs, Run{Script: script, Clients: clients, Side: Runner})
	}
	for pair := range pairs {
		for _, clients := range o.clients {
			for place, side := range o.order(random, pair) {
				b.runs = append(b.runs, Run{Pair: first + pair + 1, Place: place + 1, Script: script, Clients: clients, Side: side})
			}
		}
	}
	return b
}

// order of the sides of a pair, one way or the other by lot. What is compared runs side
// by side, so bare pgbench is in the middle; a plain one joins every other pair.
func (o options) order(random *rand.Rand, pair int) []string {
	order := []string{Runner, Bare}
	if o.parts || pair%2 == 0 {
		order = append(order, Plain)
	}
	if o.parts {
		order = append(order, slices.Sorted(maps.Keys(observing))...)
		random.Shuffle(len(observing), func(i, j int) { order[3+i], order[3+j] = order[3+j], order[3+i] })
	}
	if random.IntN(2) == 1 {
		slices.Reverse(order)
	}
	return order
}

// idle looks for a while how much of the processors others take, before there is load.
func idle(ctx context.Context) (float64, error) {
	before, err := hosttime.Now()
	if err != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(5 * time.Second):
	}
	after, err := hosttime.Now()
	return after.Elsewhere(before), err
}

// sql runs statements as the superuser, one after the other.
func (b bench) sql(ctx context.Context, database string, statements ...string) error {
	conn, err := pgx.Connect(ctx, "host="+b.server.Dir+" user=postgres dbname="+database)
	if err != nil {
		return err
	}
	for _, statement := range statements {
		if _, err = conn.Exec(ctx, statement); err != nil {
			break
		}
	}
	return errors.Join(err, conn.Close(ctx))
}

// startReporter is the runner's own, to a server that answers an apply with what was
// applied. It runs in this process, so that the runner pays for both ends.
func startReporter() (runner.Reporter, func(), error) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}))
	client, err := dynamic.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		server.Close()
		return nil, nil, err
	}
	return runner.StatusReporter{Client: client, Namespace: "bench", Name: "bench"}, server.Close, nil
}
