//go:build linux

package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/histogram"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

// Load of one run.
type Load struct {
	// Port of the database.
	Port string
	// Script is a built-in one of pgbench.
	Script           string
	Clients, Seconds int
	// Durable commits wait for the disk.
	Durable bool
}

// Watched is a run with what a runner keeps of one.
type Watched struct {
	Result *pgbench.Result
	// Seconds are the lines of its progress.
	Seconds []pgbench.Progress
	// Latencies of its transactions.
	Latencies *histogram.Histogram
}

// Run it.
func (l Load) Run(ctx context.Context) (*pgbench.Result, error) {
	result, _, err := l.run(ctx, l.options())
	return result, err
}

// Watch it run.
func (l Load) Watch(ctx context.Context) (w Watched, err error) {
	dir, err := os.MkdirTemp("", "transactions")
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// pgbench runs as the server's user.
	if err := os.Chmod(dir, 0o777); err != nil {
		return w, err
	}
	o := l.options()
	o.Progress, o.LogPrefix = time.Second, filepath.Join(dir, "log")
	var said string
	if w.Result, said, err = l.run(ctx, o); err != nil {
		return w, err
	}
	for line := range strings.Lines(said) {
		if p, ok := pgbench.ParseProgress(line); ok {
			w.Seconds = append(w.Seconds, p)
		}
	}
	log := pgbench.NewLog(pgbench.LogFormat{})
	err = log.ReadFiles(o.LogPrefix)
	w.Latencies = log.Latencies()
	return w, err
}

func (l Load) options() pgbench.RunOptions {
	return pgbench.RunOptions{
		Scripts: []pgbench.WeightedScript{{Builtin: l.Script}},
		Clients: l.Clients, Jobs: min(l.Clients, 2), Duration: time.Duration(l.Seconds) * time.Second,
		Protocol: pgbench.Prepared, NoVacuum: true,
	}
}

// run it and return what it reported, and what it said meanwhile.
func (l Load) run(ctx context.Context, o pgbench.RunOptions) (*pgbench.Result, string, error) {
	args, err := o.Args()
	if err != nil {
		return nil, "", err
	}
	cmd, err := server.Command(ctx, "pgbench", args...)
	if err != nil {
		return nil, "", err
	}
	commit := map[bool]string{true: "on", false: "off"}[l.Durable]
	cmd.Env = append(cmd.Env, "PGPORT="+l.Port, "PGOPTIONS=-c synchronous_commit="+commit)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w: %s%s", strings.Join(cmd.Args, " "), err, out, said.String())
	}
	result, err := pgbench.Parse(strings.NewReader(string(out)))
	return result, said.String(), err
}
