// Package reconcile measures what reconciling costs, on a real API server with the real CRDs.
// It measures requests by verb, times and memory, and that nothing is written at rest. The
// manager runs as a process behind a proxy that counts its requests.
package reconcile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/test/bench/harness"
)

// Benchmark of a reconcile.
var Benchmark = harness.Benchmark{Name: "reconcile", Summary: "what a reconcile costs: requests, times, memory", Run: run}

// options of a measurement.
type options struct {
	clusters, foreign, hostile int
	rest, patience             time.Duration
	out                        string
}

func parse(args []string) (options, error) {
	var o options
	flags := harness.Flags("reconcile")
	flags.IntVar(&o.clusters, "clusters", 500, "number of PgStorageClusters")
	flags.IntVar(&o.foreign, "foreign", 1000, "number of ConfigMaps, of Secrets and of Pods that are not the operator's")
	flags.IntVar(&o.hostile, "hostile", 200, "number of objects of each kind that a tenant creates as large as allowed; 0 skips them")
	flags.DurationVar(&o.rest, "rest", time.Minute, "how long to look for writes at rest; more than 5m includes reading the parameters back again")
	flags.DurationVar(&o.patience, "patience", 10*time.Minute, "bound of every wait")
	flags.StringVar(&o.out, "out", "", "file to append the lines in Go's benchmark format to, for benchstat")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.clusters < 1 {
		return o, errors.New("-clusters is at least 1")
	}
	return o, nil
}

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	env, stop, err := apiserver.Start(apiserver.Everything)
	if err != nil {
		return err
	}
	defer func() { _ = stop() }()
	s := &scene{options: o}
	if s.proxy, err = startProxy(env.Config); err != nil {
		return err
	}
	defer s.proxy.close()
	if s.instances, err = startInstances(); err != nil {
		return err
	}
	defer s.instances.close()
	if s.manager, err = startManager(ctx, env.Config, s.proxy.url, cancel); err != nil {
		return because(ctx, err)
	}
	defer s.manager.stop()
	f, err := s.measure(ctx, env.Config)
	if err != nil {
		return because(ctx, err)
	}
	return f.outcome(o).Publish("")
}

// outcome for the terminal; the page of this benchmark is written by hand.
func (f *figures) outcome(o options) harness.Outcome {
	var table strings.Builder
	f.print(&table)
	return harness.Outcome{Report: table.String(), Results: harness.Results("reconcile", f.lines()), Judge: func() error {
		fmt.Println()
		return errors.Join(f.judge(os.Stdout), keep(o.out, f))
	}}
}

// because adds why the work was ended, such as that the manager died. The error of
// a request may be a moment ahead of that.
func because(ctx context.Context, err error) error {
	select {
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return errors.Join(err, cause)
	}
	return err
}

// keep appends to the file of -out: benchstat wants several runs in one.
func keep(path string, f *figures) (err error) {
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = file.WriteString(harness.Results("reconcile", f.lines()))
	return err
}

func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}
