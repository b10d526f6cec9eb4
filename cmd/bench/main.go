// Command bench runs a PgBenchmark in a container of Postgres, beside pgbench.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/pgstorage/pgstorage/internal/bench/runner"
	"github.com/pgstorage/pgstorage/internal/bench/runner/observer"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
)

const usage = `usage:
  bench check-restore REPORT
                           check a restored database, and write the result to a file
  bench copy DEST          copy this program, in an init container
  bench fio --spec FILE    measure the scratch volumes of a benchmark with fio, in an init container
  bench observe --socket FILE --database DB --role ROLE [--cold]
                           perform superuser tasks for the runner, in a separate container.
                           With --cold it may empty the caches of the server
  bench run --spec FILE --namespace NS --name NAME --record CONFIGMAP [--observer SOCKET]
                           run a benchmark, report its progress and result, and record its runs
  bench version            print the version

run, observe and check-restore connect with PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE.
The role of run owns the benchmark database. The role of observe is a superuser, and so is the
owner of its database. At the end run prints every run as JSON. Exit codes: 0 success,
1 failure, 2 wrong usage.
`

const (
	exitFailed = 1
	exitUsage  = 2
)

// version is set by the linker.
var version = "dev"

// errUsage is the error of wrong arguments.
var errUsage = errors.New("wrong usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	err := dispatch(ctx, os.Args[1:])
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "bench:", err)
	if errors.Is(err, errUsage) {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(exitUsage)
	}
	os.Exit(exitFailed)
}

func dispatch(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	rest := args[1:]
	switch args[0] {
	case "version":
		if len(rest) == 0 {
			fmt.Println("pgstorage", version)
			return nil
		}
	case "copy", "check-restore":
		if len(rest) == 1 {
			return intoFile(ctx, args[0], rest[0])
		}
	case "fio":
		return measureVolumes(ctx, rest)
	case "observe":
		return observe(ctx, rest)
	case "run":
		return run(ctx, rest)
	}
	return errUsage
}

// intoFile runs a command whose argument is the file that it writes.
func intoFile(ctx context.Context, command, file string) error {
	if command == "copy" {
		return copySelf(file)
	}
	return checkRestore(ctx, file)
}

// copySelf under another name first: the container that runs it must never see
// half of it.
func copySelf(dest string) (err error) {
	in, err := os.Open("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(filepath.Clean(dest)+".part", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755) //nolint:gosec // a program, for the other container
	if err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	if _, err := io.Copy(out, in); err != nil {
		return errors.Join(fmt.Errorf("copy: %w", err), out.Close())
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	return os.Rename(out.Name(), dest) //nolint:gosec // the caller names the file
}

// measureVolumes only logs errors of measuring: the benchmark continues without the result and reports
// that it is missing.
func measureVolumes(ctx context.Context, args []string) error {
	if len(args) != 2 || args[0] != "--spec" {
		return errUsage
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	raw, err := os.ReadFile(args[1]) //nolint:gosec // the caller names the file
	if err == nil {
		var s spec.Spec
		if s, err = spec.Parse(raw); err == nil {
			err = runner.Fio(ctx, s, log)
		}
	}
	if err != nil {
		log.Warn("the scratch volumes were not measured with fio", "error", err)
	}
	return nil
}

// runOptions are the arguments of run, all of which but observer are needed.
type runOptions struct{ file, namespace, name, record, observer string }

func parseRun(args []string) (o runOptions, err error) {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.file, "spec", "", "")
	flags.StringVar(&o.namespace, "namespace", "", "")
	flags.StringVar(&o.name, "name", "", "")
	flags.StringVar(&o.record, "record", "", "")
	flags.StringVar(&o.observer, "observer", "", "")
	err = parse(flags, args, &o.file, &o.namespace, &o.name, &o.record)
	return o, err
}

// parse sets flags from arguments. It returns errUsage if a required flag is empty, or
// an argument is not a flag.
func parse(flags *flag.FlagSet, args []string, required ...*string) error {
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if slices.ContainsFunc(required, func(value *string) bool { return *value == "" }) || flags.NArg() > 0 {
		return errUsage
	}
	return nil
}

func run(ctx context.Context, args []string) error {
	o, err := parseRun(args)
	if err != nil {
		return err
	}
	client, err := inCluster()
	if err != nil {
		return err
	}
	runner := &runner.Runner{
		Reporter:   runner.StatusReporter{Client: client, Namespace: o.namespace, Name: o.name},
		Keeper:     runner.ConfigMapKeeper{Client: client, Namespace: o.namespace, Name: o.record},
		Files:      os.DirFS("/"),
		Attempt:    os.Getenv("POD_UID"),
		Processors: runtime.GOMAXPROCS(0),
		Clock:      clock.RealClock{},
		Log:        slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Connecting: runner.Connecting,
	}
	if o.observer != "" {
		runner.Observer = observer.NewClient(o.observer)
	}
	if runner.WorkDir, err = os.Getwd(); err != nil {
		return fmt.Errorf("working directory: %w", err)
	}
	raw, err := os.ReadFile(o.file)
	if err != nil {
		return runner.Refuse(ctx, fmt.Errorf("specification of the benchmark: %w", err))
	}
	if runner.Spec, err = spec.Parse(raw); err != nil {
		return runner.Refuse(ctx, err)
	}
	outcome, err := runner.Run(ctx)
	return errors.Join(err, json.NewEncoder(os.Stdout).Encode(outcome))
}

func inCluster() (dynamic.Interface, error) {
	config, err := rest.InClusterConfig()
	if err != nil {
		return nil, fmt.Errorf("API server: %w", err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("API server: %w", err)
	}
	return client, nil
}
