//go:build linux

package main

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

	"github.com/pgstorage/pgstorage/internal/benchrun"
	"github.com/pgstorage/pgstorage/internal/testing/hosttime" //nolint:depguard // a measurement
	"github.com/pgstorage/pgstorage/internal/testing/postgres" //nolint:depguard // the same
)

// settings of the server: nothing but the load takes processors, and commits do not wait.
var settings = []string{
	"synchronous_commit=off", "shared_buffers=512MB", "max_wal_size=8GB", "checkpoint_timeout=1d", "autovacuum=off",
}

// measured is everything that was found out.
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
	for _, r := range plan(o) {
		if err := b.do(ctx, &r); err != nil {
			return nil, err
		}
		fmt.Printf("pair %d  %-12s  clients=%-2d  %-10s  %9.1f TPS\n", r.Pair, r.Script, r.Clients, r.Side, r.TPS)
		m.runs = append(m.runs, r)
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
	database := benchrun.DatabasePrefix + "_runner"
	for name, value := range map[string]string{"PGHOST": server.Dir, "PGPORT": "5432", "PGUSER": "postgres", "PGDATABASE": database} {
		if err := os.Setenv(name, value); err != nil {
			return fail(err)
		}
	}
	if err := b.sql(ctx, "CREATE DATABASE "+database); err != nil {
		return fail(err)
	}
	if b.dir, err = os.MkdirTemp("", "benchrunner"); err != nil {
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

// plan of all runs. The lines take turns within a pair, in an order by lot, and so do
// the sides of a line, which follow each other.
func plan(o options) []Run {
	random := rand.New(rand.NewPCG(o.seed, 0))
	sides := []string{Bare, Runner}
	if o.parts {
		sides = append(sides, slices.Sorted(maps.Keys(parts))...)
	}
	var lines []Run
	for _, script := range slices.Sorted(maps.Keys(scripts)) {
		for _, clients := range o.clients {
			lines = append(lines, Run{Script: script, Clients: clients})
		}
	}
	var all []Run
	for pair := range o.pairs {
		random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		for _, r := range lines {
			r.Pair = pair + 1
			for place, side := range random.Perm(len(sides)) {
				r.Place, r.Side = place+1, sides[side]
				all = append(all, r)
			}
		}
	}
	return all
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

// sql of the superuser.
func (b bench) sql(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, "host="+b.server.Dir+" user=postgres dbname=postgres")
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}

// startReporter is the runner's own, to a server that answers an apply with what was
// applied. It runs in this process, so that the runner pays for both ends.
func startReporter() (benchrun.Reporter, func(), error) {
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
	return benchrun.StatusReporter{Client: client, Namespace: "bench", Name: "bench"}, server.Close, nil
}
