package observer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	server "github.com/pgstorage/pgstorage/internal/testing/postgres"
)

// postgres of this package's tests.
var postgres *server.Server

func TestMain(m *testing.M) {
	code := m.Run()
	if postgres != nil {
		_ = postgres.Stop()
	}
	os.Exit(code)
}

const checker = "pgstorage_check"

func start(t *testing.T) {
	t.Helper()
	if postgres != nil {
		return
	}
	s, err := server.Start(t.Context())
	if errors.Is(err, server.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	postgres = s
	execute(t, "postgres", "postgres", "CREATE ROLE "+checker+" LOGIN SUPERUSER")
}

func configOf(t *testing.T, user, database string) *pgx.ConnConfig {
	t.Helper()
	config, err := pgx.ParseConfig(fmt.Sprintf("host=%s user=%s dbname=%s", postgres.Dir, user, database))
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func connected(t *testing.T, config *pgx.ConnConfig, use func(context.Context, *pgx.Conn) error) error {
	t.Helper()
	return connect(t.Context(), config, use)
}

func execute(t *testing.T, user, database string, statements ...string) {
	t.Helper()
	err := connected(t, configOf(t, user, database), func(ctx context.Context, c *pgx.Conn) error {
		for _, s := range statements {
			if _, err := c.Exec(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// observed database of a test, with its owner.
func observed(t *testing.T) *Observer {
	t.Helper()
	start(t)
	name := "pgstorage_bench_" + strings.ToLower(strings.ReplaceAll(t.Name(), "/", "_"))
	name = name[:min(60, len(name))]
	execute(t, "postgres", "postgres", "CREATE ROLE "+name+" LOGIN", "CREATE DATABASE "+name+" OWNER "+name)
	return &Observer{Config: configOf(t, checker, "postgres"), Database: name, Role: name}
}

// answers of a query in a database.
func answers(t *testing.T, user, database, query string) (all []string) {
	t.Helper()
	err := connected(t, configOf(t, user, database), func(ctx context.Context, c *pgx.Conn) error {
		rows, err := c.Query(ctx, query)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
