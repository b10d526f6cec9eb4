// Package harness has what all benchmarks share: the command line, the rounds in a virtual
// machine, and the comparison of configurations. It also prints the results of a benchmark and
// writes its page below docs/benchmarks.
package harness

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Benchmark is a subcommand of bench.
type Benchmark struct {
	// Name is the word that selects it.
	Name string
	// Summary says in one line what it measures.
	Summary string
	// Run measures with the arguments that follow the name. It returns an error where a
	// mark is missed.
	Run func(ctx context.Context, args []string) error
}

// Main runs the benchmark that the first argument names, until it ends or the process is
// interrupted. It exits with 1 after an error and with 2 where no benchmark is named.
func Main(benchmarks ...Benchmark) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	b, err := choose(benchmarks, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		usage(os.Stderr, benchmarks)
		os.Exit(2)
	}
	err = b.Run(ctx, os.Args[2:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "bench %s: %v\n", b.Name, err)
		os.Exit(1)
	}
}

func choose(benchmarks []Benchmark, args []string) (Benchmark, error) {
	if len(args) == 0 {
		return Benchmark{}, errors.New("no benchmark is named")
	}
	for _, b := range benchmarks {
		if b.Name == args[0] {
			return b, nil
		}
	}
	return Benchmark{}, fmt.Errorf("unknown benchmark %q", args[0])
}

func usage(out io.Writer, benchmarks []Benchmark) {
	_, _ = fmt.Fprint(out, "\nUsage: bench BENCHMARK [flags]\n\nBenchmarks:\n")
	for _, b := range benchmarks {
		_, _ = fmt.Fprintf(out, "  %-10s %s\n", b.Name, b.Summary)
	}
}

// Flags returns an empty set of flags for a benchmark.
func Flags(name string) *flag.FlagSet {
	return flag.NewFlagSet("bench "+name, flag.ContinueOnError)
}
