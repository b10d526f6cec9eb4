package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/internal/bench/runner"
	"github.com/pgstorage/pgstorage/internal/bench/runner/observer"
)

// observeOptions are the arguments of observe. They come from the Job and not from the
// specification, which is in a ConfigMap. Users who may write ConfigMaps of the
// namespace must not direct a superuser.
type observeOptions struct {
	socket, database, role string
	cold                   bool
}

func parseObserve(args []string) (o observeOptions, err error) {
	flags := flag.NewFlagSet("observe", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.socket, "socket", "", "")
	flags.StringVar(&o.database, "database", "", "")
	flags.StringVar(&o.role, "role", "", "")
	flags.BoolVar(&o.cold, "cold", false, "")
	err = parse(flags, args, &o.socket, &o.database, &o.role)
	return o, err
}

// observe until ctx ends. It listens only once the benchmark's database was
// prepared, so that no script runs before.
func observe(ctx context.Context, args []string) error {
	o, err := parseObserve(args)
	if err != nil {
		return err
	}
	config, err := pgx.ParseConfig("")
	if err != nil {
		return fmt.Errorf("connection from the environment: %w", err)
	}
	source, err := runner.SourceConfig()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	obs := &observer.Observer{Config: config, Source: source, Database: o.database, Role: o.role, Cold: o.cold}
	if err := obs.Settle(ctx, runner.Connecting); err != nil {
		return err
	}
	var ready observer.Ready
	note, err := obs.Prepare(ctx)
	if err != nil {
		return err
	}
	if note != nil {
		ready.NotPrepared = note.Error()
		log.Warn("pg_amcheck cannot run", "error", note)
	}
	return obs.Serve(ctx, o.socket, ready, log)
}
