package runner

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/pgstorage/pgstorage/internal/bench/runner/observer"
)

// DatabasePrefix begins the name of every database that the runner touches.
const DatabasePrefix = "pgstorage_bench"

// queryTimeout bounds one query that reads no table of the benchmark.
const queryTimeout = 30 * time.Second

var databaseName = regexp.MustCompile(`^` + DatabasePrefix + `[a-z0-9_]*$`)

// ErrNotBenchmarkDatabase is the refusal to touch a database that may be an
// application's.
var ErrNotBenchmarkDatabase = fmt.Errorf("the database's name must begin with %s and continue in lower-case letters, digits and underscores: pgbench drops and fills tables", DatabasePrefix)

// database is how the runner connects: as the role that owns it, and no other.
type database struct{ config *pgx.ConnConfig }

// openDatabase reads the connection from the environment, and rejects any database that is not
// a benchmark's. Names in its sessions mean the objects of Postgres, whatever a script puts
// first. A script then cannot change what the runner reports of a figure.
func openDatabase() (*database, error) {
	config, err := pgx.ParseConfig("")
	if err != nil {
		return nil, fmt.Errorf("connection from the environment: %w", err)
	}
	if !databaseName.MatchString(config.Database) {
		return nil, fmt.Errorf("database %q: %w", config.Database, ErrNotBenchmarkDatabase)
	}
	return &database{config: observer.Harden(config)}, nil
}

// session opens a connection for one call: none idles while pgbench runs.
func session(ctx context.Context, config *pgx.ConnConfig, timeout time.Duration, use func(context.Context, *pgx.Conn) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	return use(ctx, conn)
}

// settle waits until the database answers: its role and its Service may be
// younger than the runner.
func (d *database) settle(ctx context.Context, backoff wait.Backoff) error {
	var last error
	err := wait.ExponentialBackoffWithContext(ctx, backoff, func(ctx context.Context) (bool, error) {
		last = session(ctx, d.config, queryTimeout, func(ctx context.Context, c *pgx.Conn) error { return c.Ping(ctx) })
		return last == nil, nil
	})
	if err != nil && last != nil {
		return last
	}
	return err
}

// Server is what does not change from run to run.
type Server struct {
	Version       string
	Major         int
	Fingerprint   string
	DataChecksums bool
}

func (d *database) server(ctx context.Context) (Server, error) {
	var s Server
	err := session(ctx, d.config, queryTimeout, func(ctx context.Context, c *pgx.Conn) error {
		var number int
		var checksums string
		err := c.QueryRow(ctx, `SELECT split_part(current_setting('server_version'), ' ', 1),
			current_setting('server_version_num')::int, current_setting('data_checksums')`).Scan(&s.Version, &number, &checksums)
		if err != nil {
			return fmt.Errorf("version of the server: %w", err)
		}
		s.Major, s.DataChecksums = number/10000, checksums == "on"
		settings, err := settingsOf(ctx, c)
		if err != nil {
			return err
		}
		s.Fingerprint = hash(settings)
		return nil
	})
	return s, err
}

// vacuum does what pgbench itself does before a run, but for emptying
// pgbench_history, which the invariants of the data need whole.
func (d *database) vacuum(ctx context.Context, timeout time.Duration) error {
	return session(ctx, d.config, timeout, func(ctx context.Context, c *pgx.Conn) error {
		for _, table := range []string{"public.pgbench_branches", "public.pgbench_tellers"} {
			if _, err := c.Exec(ctx, "VACUUM "+table); err != nil {
				return fmt.Errorf("vacuum %s: %w", table, err)
			}
		}
		return nil
	})
}
