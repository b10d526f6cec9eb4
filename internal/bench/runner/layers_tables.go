package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/program"
)

// Schemas of the tables that the layers' transactions are of. They are in the
// benchmark's own database, and gone before its own tables are filled.
const (
	unloggedSchema = "pgstorage_layers_unlogged"
	loggedSchema   = "pgstorage_layers_logged"
)

// makeTables of both kinds, and says whether there are any.
func (l *layering) makeTables(ctx context.Context) bool {
	err := l.writes()
	for _, schema := range []string{unloggedSchema, loggedSchema} {
		if err == nil {
			err = l.fill(ctx, schema)
		}
	}
	kind := fmt.Sprintf("pgbench %s, clients %d, scale %d", l.Spec.Builtin(), l.Spec.Pgbench.Clients[0], l.spec.Scale(l.Spec.Pgbench.Scale))
	if err != nil {
		l.unlogged.Note, l.logged.Note = err.Error(), err.Error()
		l.Log.Warn("transactions on unlogged and logged tables are not measured", "error", err)
		return false
	}
	l.unlogged.Method, l.logged.Method = kind+", unlogged tables", kind+", logged tables"
	return true
}

// writes says why the benchmark's script has no distinct layers.
func (l *layering) writes() error {
	switch l.Spec.Builtin() {
	case pgbench.TPCB, pgbench.SimpleUpdate:
		return nil
	case pgbench.SelectOnly:
		return errors.New("the script SelectOnly writes nothing")
	}
	return errors.New("custom scripts may name other tables than pgbench's; use TPCB or SimpleUpdate")
}

func (l *layering) fill(ctx context.Context, schema string) error {
	name := pgx.Identifier{schema}.Sanitize()
	if err := l.execute(ctx, "DROP SCHEMA IF EXISTS "+name+" CASCADE", "CREATE SCHEMA "+name); err != nil {
		return fmt.Errorf("schema %s: %w", schema, err)
	}
	args, err := pgbench.InitOptions{Scale: int(l.spec.Scale(l.Spec.Pgbench.Scale)), Unlogged: schema == unloggedSchema}.Args()
	if err != nil {
		return err
	}
	_, err = program.Command{Path: program.In(l.Bin, "pgbench"), Args: args, Env: within(schema), Dir: l.WorkDir, Timeout: 2 * l.tableTimeout()}.Run(ctx)
	if err != nil {
		return fmt.Errorf("fill the tables of schema %s: %w", schema, err)
	}
	return nil
}

// within is the environment of a pgbench whose tables are those of one schema.
func within(schema string) []string { return program.Environment("PGOPTIONS=-csearch_path=" + schema) }

func (l *layering) execute(ctx context.Context, statements ...string) error {
	return session(ctx, l.db.config, l.tableTimeout(), func(ctx context.Context, c *pgx.Conn) error {
		for _, s := range statements {
			if _, err := c.Exec(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// dropTables of both kinds, also where only some were filled. What stays goes with
// the database.
func (l *layering) dropTables(ctx context.Context) {
	if l.writes() != nil {
		return
	}
	err := l.execute(ctx, "SET client_min_messages = warning",
		"DROP SCHEMA IF EXISTS "+pgx.Identifier{unloggedSchema}.Sanitize()+" CASCADE",
		"DROP SCHEMA IF EXISTS "+pgx.Identifier{loggedSchema}.Sanitize()+" CASCADE")
	if err != nil && ctx.Err() == nil {
		l.Log.Warn("tables of the layers stay until the benchmark's database goes", "error", err)
	}
}

// transactions of the first client count on the tables of a schema: how long one
// takes on average.
func (l *layering) transactions(schema string) func(context.Context) (time.Duration, error) {
	return func(ctx context.Context) (time.Duration, error) {
		o, err := l.options(int(l.Spec.Pgbench.Clients[0]))
		if err != nil {
			return 0, err
		}
		o.Duration, o.Transactions, o.Rate, o.LogPrefix, o.Statements, o.Progress = l.spec.Each(), 0, 0, "", false, 0
		args, err := o.Args()
		if err != nil {
			return 0, err
		}
		out, err := program.Command{Path: program.In(l.Bin, "pgbench"), Args: args, Env: within(schema), Dir: l.WorkDir, Timeout: limit(o)}.Run(ctx)
		if err != nil {
			return 0, err
		}
		result, err := pgbench.Parse(strings.NewReader(out))
		if err != nil {
			return 0, err
		}
		if result.Transactions == 0 || result.LatencyAvg <= 0 {
			return 0, fmt.Errorf("no transaction succeeded, %d failed", result.Failed)
		}
		l.committed += result.Transactions
		return time.Duration(result.LatencyAvg * float64(time.Millisecond)), nil
	}
}
