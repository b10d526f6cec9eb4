package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/benchmark"
	"github.com/pgstorage/pgstorage/internal/cli/gather"
)

func (a *app) bench() *cobra.Command {
	c := &cobra.Command{
		Use:   "bench",
		Short: "Start, follow and list benchmarks",
		Long: `Start, follow and list benchmarks.

A PgBenchmark is one run of pgbench against a database of pgstorage, in a
database and with a role of its own. Its spec does not change; for another run
make another. A result stands under the durability tier that was in force, and
results of different tiers do not compare.`,
		Example: `  kubectl pgstorage bench start shop --scale 100 --clients 1,16,64 --duration 5m --repeats 5 --follow
  kubectl pgstorage bench follow shop-x7k2p
  kubectl pgstorage bench result shop-x7k2p --statements
  kubectl pgstorage bench list`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.benchStart(), a.benchFollow(), a.benchResult(), a.benchList())
	return c
}

func (a *app) benchFollow() *cobra.Command {
	var options followOptions
	c := &cobra.Command{
		Use:   "follow NAME",
		Short: "Show how far a benchmark is until it ends",
		Long: `Show how far a benchmark is until it ends, and then its result.

On a terminal a bar moves; elsewhere there is a line for each change. The exit
code is 0 if it succeeded and 1 if it failed or the time ran out. To stop
following changes nothing of the benchmark.`,
		Example: `  kubectl pgstorage bench follow nightly
  kubectl pgstorage bench follow nightly --timeout 1h`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst("PgBenchmark"),
		RunE: func(c *cobra.Command, args []string) error {
			connection, err := a.client()
			if err != nil {
				return err
			}
			key, err := a.key(args[0])
			if err != nil {
				return err
			}
			return a.follow(c.Context(), connection, key, options)
		},
	}
	options.flags(c)
	return c
}

func (a *app) benchResult() *cobra.Command {
	o, statements := &output{}, false
	c := &cobra.Command{
		Use:   "result NAME",
		Short: "Show the result of a benchmark",
		Long: `Show the result of a benchmark: the median of the repeats for each client
count, latencies in milliseconds, and what the checks of integrity found. Of a
matrix it is how far it is, its variants in the group of their durability tier,
and their ranks once it has ended. Results of different tiers do not compare.
With -o it is the PgBenchmark itself; report shows more of it.`,
		Example: `  kubectl pgstorage bench result nightly
  kubectl pgstorage bench result nightly --statements
  kubectl pgstorage bench result nightly -o json | jq .status.run.results`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst("PgBenchmark"),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := a.reader()
			if err != nil {
				return err
			}
			key, err := a.key(args[0])
			if err != nil {
				return err
			}
			seen, err := r.Benchmark(c.Context(), key)
			if err != nil {
				return err
			}
			b := seen.Benchmark
			b.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("PgBenchmark"))
			return o.print(a.streams.Out, b, plain(benchmark.Result(b, statements, a.style())))
		},
	}
	o.flag(c)
	c.Flags().BoolVar(&statements, "statements", false, "show the latency of each statement of the script too")
	return c
}

func (a *app) benchList() *cobra.Command {
	o, all, runs := &output{}, false, false
	c := &cobra.Command{
		Use:   "list [CLUSTER]",
		Short: "List benchmarks, the oldest first",
		Long: `List benchmarks, the oldest first, with the best median of transactions per
second over their client counts and the durability tier it stands under. With
the name of a PgStorageCluster only those of it. Of a matrix RUNS says how many
of its runs are over; these are PgBenchmarks too, and listed with --runs.`,
		Example: `  kubectl pgstorage bench list shop
  kubectl pgstorage bench list -A -o json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeFirst("PgStorageCluster"),
		RunE: func(c *cobra.Command, args []string) error {
			items, namespace, err := a.benchmarks(c.Context(), all, runs, args)
			if err != nil {
				return err
			}
			return o.print(a.streams.Out, items, func() (string, error) {
				if len(items) == 0 {
					return fmt.Sprintf("There is no PgBenchmark in %s.\n", where(namespace)), nil
				}
				return benchmark.List(items, a.clock.Now(), all), nil
			})
		},
	}
	o.flag(c)
	c.Flags().BoolVarP(&all, "all-namespaces", "A", false, "list those of all namespaces")
	c.Flags().BoolVar(&runs, "runs", false, "list the single runs of matrices too")
	return c
}

// benchmarks of a namespace or all, with the runs of matrices or without, and of these
// clusters where there are some.
func (a *app) benchmarks(ctx context.Context, all, runs bool, clusters []string) ([]v1alpha1.PgBenchmark, string, error) {
	r, err := a.reader()
	if err != nil {
		return nil, "", err
	}
	namespace, err := a.namespace()
	if err != nil {
		return nil, "", err
	}
	if all {
		namespace = ""
	}
	list := &v1alpha1.PgBenchmarkList{}
	if err := r.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, "", fmt.Errorf("list PgBenchmarks: %w", err)
	}
	out := []v1alpha1.PgBenchmark{}
	for _, b := range list.Items {
		if (runs || !benchmark.OfMatrix(&b)) && (len(clusters) == 0 || slices.Contains(clusters, b.Spec.Cluster)) {
			b.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("PgBenchmark"))
			out = append(out, b)
		}
	}
	gather.Oldest(out)
	return out, namespace, nil
}
