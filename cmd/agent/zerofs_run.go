package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/google/renameio/v2"
	"k8s.io/utils/clock"

	"github.com/pgstorage/pgstorage/internal/zerofs"
	"github.com/pgstorage/pgstorage/internal/zerofs/relay"
	"github.com/pgstorage/pgstorage/internal/zerofs/supervise"
)

const (
	exitFailed = 1
	exitUsage  = 2
)

// subcommand of the agent's program, if its arguments name one: what runs in the pods
// of ZeroFS servers.
func subcommand(args []string) (code int, done bool) {
	if len(args) == 0 {
		return 0, false
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	switch args[0] {
	case "zerofs-install":
		return outcome(log, zerofsInstall(args[1:])), true
	case "zerofs-preflight":
		return zerofsPreflight(args[1:], log), true
	case "zerofs-run":
		return zerofsRun(args[1:], log), true
	}
	return 0, false
}

// outcome of a subcommand as its exit code, after its error was logged.
func outcome(log *slog.Logger, err error) int {
	if err == nil {
		return 0
	}
	log.Error(err.Error())
	return exitFailed
}

// zerofsInstall copies this program to where a server's container finds it: the
// server's image need not have it, nor any shell.
func zerofsInstall(args []string) (err error) {
	if len(args) != 1 {
		return errors.New("usage: agent zerofs-install FILE")
	}
	in, err := os.Open("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := renameio.NewPendingFile(args[0], renameio.WithStaticPermissions(0o755))
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	defer func() { err = errors.Join(err, out.Cleanup()) }()
	if _, err := io.Copy(out, in); err != nil {
		return fmt.Errorf("install: %w", err)
	}
	return out.CloseAtomicallyReplace()
}

// zerofsRun is the first process of a server's container. Its exit code is 0 after an
// orderly end, else that of ZeroFS, or 127 if none was started.
func zerofsRun(args []string, log *slog.Logger) int {
	// What is collected late stays within what the rendering adds to the container for it.
	debug.SetMemoryLimit(2 * relay.DefaultLimit)
	set := flag.NewFlagSet("zerofs-run", flag.ContinueOnError)
	dir := set.String("dir", "", "directory of the sockets, incarnation and status of the server (required)")
	termination := set.String("termination-log", zerofs.TerminationLog, "file for the error message of the server")
	prometheus := set.String("prometheus", "", "host:port of the metrics; empty disables them")
	address := set.String("meter", "", "loopback host:port of the proxy that counts requests to the store; empty disables it")
	store := set.String("store", "", "scheme and host of the store behind the meter")
	if err := set.Parse(args); err != nil {
		return exitUsage
	}
	if *dir == "" || set.NArg() == 0 {
		log.Error("usage: agent zerofs-run --dir DIR [--prometheus ADDRESS] [--meter ADDRESS --store URL] -- PROGRAM [ARGUMENT...]")
		return exitUsage
	}
	meter, err := startMeter(*address, *store, log)
	if err != nil {
		log.Error(err.Error())
		return exitUsage
	}
	// Before the server starts: a signal in between would be lost on a first process.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	s := &supervise.Supervisor{
		Dir: *dir, Command: set.Args(), Stdout: os.Stdout, Stderr: os.Stderr,
		Secrets: zerofs.SecretsOf(os.Environ()), TerminationLog: *termination, Prometheus: *prometheus,
		Signals: signals, Log: log, Clock: clock.RealClock{},
	}
	if meter != nil {
		s.Meter = meter
		defer func() { _ = meter.Close() }()
	}
	code, err := s.Run(context.Background())
	if err != nil {
		log.Error(err.Error())
	}
	return code
}
