package observer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"k8s.io/apimachinery/pkg/util/wait"
)

// queryTimeout bounds one operation that waits for no storage.
const queryTimeout = 30 * time.Second

// ErrOwned is the refusal to be a superuser in a database whose owner is none: its
// owner decides what names in it mean.
var ErrOwned = errors.New("the database belongs to a role that is not a superuser")

// Observer of one benchmark's server.
type Observer struct {
	// Config connects as a superuser, to a database that a superuser owns.
	Config *pgx.ConnConfig
	// Source connects in the same way to the cluster that the measured one follows. The
	// benchmark's database is prepared there. It is nil where the measured one follows none.
	Source *pgx.ConnConfig
	// Database of the benchmark, and the Role that owns it.
	Database, Role string
	// Cold allows Chill: only a cluster that a matrix has made for itself may lose its
	// caches.
	Cold bool

	// kept is the connection of held.
	mu   sync.Mutex
	kept *pgx.Conn
}

// Harden the configuration of a session: names resolve only to the objects of Postgres,
// whatever the settings of database and role say. Settings of a connection override both.
func Harden(config *pgx.ConnConfig) *pgx.ConnConfig {
	config = config.Copy()
	config.RuntimeParams["search_path"] = ""
	return config
}

// writer connects to the server that takes writes.
func (o *Observer) writer() *pgx.ConnConfig {
	if o.Source != nil {
		return o.Source
	}
	return o.Config
}

// session as a superuser, in no database of an author's.
func (o *Observer) session(ctx context.Context, use func(context.Context, *pgx.Conn) error) error {
	return o.sessionOf(ctx, o.Config, use)
}

func (o *Observer) sessionOf(ctx context.Context, config *pgx.ConnConfig, use func(context.Context, *pgx.Conn) error) error {
	return connect(ctx, Harden(config), func(ctx context.Context, c *pgx.Conn) error {
		if err := o.superuserOwns(ctx, c); err != nil {
			return err
		}
		return use(ctx, c)
	})
}

// superuserOwns the database that a session is in, or else it is an error.
func (o *Observer) superuserOwns(ctx context.Context, c *pgx.Conn) error {
	var superuser bool
	err := c.QueryRow(ctx, `SELECT r.rolsuper FROM pg_catalog.pg_database AS d JOIN pg_catalog.pg_roles AS r ON r.oid = d.datdba
		WHERE d.datname = pg_catalog.current_database()`).Scan(&superuser)
	if err != nil {
		return fmt.Errorf("owner of database %s: %w", o.Config.Database, err)
	}
	if !superuser {
		return fmt.Errorf("database %s: %w", o.Config.Database, ErrOwned)
	}
	return nil
}

func connect(ctx context.Context, config *pgx.ConnConfig, use func(context.Context, *pgx.Conn) error) (err error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	return use(ctx, conn)
}

// Settle waits until the server that takes writes lets the observer in: its role and the
// Service may be younger than it is. The runner waits until a follower has the role.
func (o *Observer) Settle(ctx context.Context, backoff wait.Backoff) error {
	var last error
	err := wait.ExponentialBackoffWithContext(ctx, backoff, func(ctx context.Context) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, queryTimeout)
		defer cancel()
		last = o.sessionOf(ctx, o.writer(), func(ctx context.Context, c *pgx.Conn) error { return c.Ping(ctx) })
		// Who owns a database does not change by waiting.
		return last == nil, fatal(last)
	})
	if err != nil && last != nil {
		return last
	}
	return err
}

func fatal(err error) error {
	if errors.Is(err, ErrOwned) {
		return err
	}
	return nil
}
