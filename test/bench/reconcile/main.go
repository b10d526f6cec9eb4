// Command bench measures what reconciling costs, on a real API server with the
// real CRDs: requests by verb, times, memory, and that nothing is written at
// rest. The manager runs as a process of its own behind a proxy that counts. It
// prints a table, the same in Go's benchmark format with a line for each phase,
// and fails where a mark is missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
)

// options of a measurement.
type options struct {
	clusters, foreign, hostile int
	rest, patience             time.Duration
	out                        string
}

func main() {
	var o options
	flag.IntVar(&o.clusters, "clusters", 500, "number of PgStorageClusters")
	flag.IntVar(&o.foreign, "foreign", 1000, "number of ConfigMaps, of Secrets and of Pods that are not ours")
	flag.IntVar(&o.hostile, "hostile", 200, "number of objects of each kind that a tenant makes as large as it may; 0 measures none")
	flag.DurationVar(&o.rest, "rest", time.Minute, "how long to look for writes at rest; more than 5m sees parameters read back again")
	flag.DurationVar(&o.patience, "patience", 10*time.Minute, "bound of every wait")
	flag.StringVar(&o.out, "out", "", "file to append the lines in Go's benchmark format to, for benchstat")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
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
	f.print(os.Stdout)
	fmt.Println()
	if err := f.benchmark(os.Stdout); err != nil {
		return err
	}
	fmt.Println()
	return errors.Join(f.judge(os.Stdout), keep(o.out, f))
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
	return f.benchmark(file)
}

func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}
