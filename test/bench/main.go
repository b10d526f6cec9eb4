// Command bench measures what reconciling costs, on a real API server with the
// real CRDs: requests by verb, times, memory, and that nothing is written at
// rest. The manager runs as a process of its own behind a proxy that counts. It
// prints a table, the same in Go's benchmark format, and fails where a mark is
// missed.
package main

import (
	"context"
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
	clusters, foreign int
	rest, patience    time.Duration
}

func main() {
	var o options
	flag.IntVar(&o.clusters, "clusters", 500, "number of PgStorageClusters")
	flag.IntVar(&o.foreign, "foreign", 1000, "number of ConfigMaps, of Secrets and of Pods that are not ours")
	flag.DurationVar(&o.rest, "rest", time.Minute, "how long to look for writes at rest")
	flag.DurationVar(&o.patience, "patience", 10*time.Minute, "bound of every wait")
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
	env, stop, err := apiserver.Start(apiserver.Everything)
	if err != nil {
		return err
	}
	defer func() { _ = stop() }()
	proxy, err := startProxy(env.Config)
	if err != nil {
		return err
	}
	defer proxy.close()
	manager, err := startManager(ctx, env.Config, proxy.url)
	if err != nil {
		return err
	}
	defer manager.stop()
	f, err := measure(ctx, o, env.Config, proxy, manager)
	if err != nil {
		return err
	}
	f.print(os.Stdout)
	return f.judge(os.Stdout)
}

func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}
