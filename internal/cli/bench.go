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
	c := benchHelp.command()
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.AddCommand(a.benchStart(), a.benchFollow(), a.benchResult(), a.benchList())
	return c
}

func (a *app) benchFollow() *cobra.Command {
	var options followOptions
	c := benchFollowHelp.command()
	c.Args = cobra.ExactArgs(1)
	c.ValidArgsFunction = a.completeFirst("PgBenchmark")
	c.RunE = func(c *cobra.Command, args []string) error {
		connection, err := a.client()
		if err != nil {
			return err
		}
		namespace, err := a.namespace()
		if err != nil {
			return err
		}
		return a.follow(c.Context(), connection, client.ObjectKey{Namespace: namespace, Name: args[0]}, options)
	}
	options.flags(c)
	return c
}

func (a *app) benchResult() *cobra.Command {
	o, statements := &output{}, false
	c := benchResultHelp.command()
	c.Args = cobra.ExactArgs(1)
	c.ValidArgsFunction = a.completeFirst("PgBenchmark")
	c.RunE = func(c *cobra.Command, args []string) error {
		r, key, err := a.object(args[0])
		if err != nil {
			return err
		}
		seen, err := r.Benchmark(c.Context(), key)
		if err != nil {
			return err
		}
		b := seen.Benchmark
		b.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("PgBenchmark"))
		return o.print(a.streams.Out, b, plain(benchmark.ResultText(b, statements, a.style())))
	}
	o.flag(c)
	c.Flags().BoolVar(&statements, "statements", false, "also show the latency of each statement of the script")
	return c
}

func (a *app) benchList() *cobra.Command {
	o, all, runs := &output{}, false, false
	c := benchListHelp.command()
	c.Args = cobra.MaximumNArgs(1)
	c.ValidArgsFunction = a.completeFirst("PgStorageCluster")
	c.RunE = func(c *cobra.Command, args []string) error {
		items, namespace, err := a.benchmarks(c.Context(), all, runs, args)
		if err != nil {
			return err
		}
		return o.print(a.streams.Out, items, func() (string, error) {
			if len(items) == 0 {
				return fmt.Sprintf("No PgBenchmarks found in %s.\n", where(namespace)), nil
			}
			return benchmark.ListText(items, a.clock.Now(), all), nil
		})
	}
	o.flag(c)
	c.Flags().BoolVarP(&all, "all-namespaces", "A", false, "list the benchmarks of all namespaces")
	c.Flags().BoolVar(&runs, "runs", false, "also list the runs of matrices")
	return c
}

// benchmarks lists the PgBenchmarks of the namespace, or of all, oldest first, and
// returns that namespace. It leaves the runs of matrices out unless runs is set, and
// selects those of the clusters if any are named.
func (a *app) benchmarks(ctx context.Context, all, runs bool, clusters []string) ([]v1alpha1.PgBenchmark, string, error) {
	list := &v1alpha1.PgBenchmarkList{}
	namespace, err := a.list(ctx, list, all)
	if err != nil {
		return nil, "", fmt.Errorf("list PgBenchmarks: %w", err)
	}
	out := []v1alpha1.PgBenchmark{}
	for _, b := range list.Items {
		if (runs || !benchmark.IsMatrixRun(&b)) && (len(clusters) == 0 || slices.Contains(clusters, b.Spec.Cluster)) {
			b.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("PgBenchmark"))
			out = append(out, b)
		}
	}
	gather.SortByAge(out)
	return out, namespace, nil
}
