package observer

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Pages that were just written are in memory, and are not once they were emptied. All of
// it is done from another database.
func TestPagesAreEmptied(t *testing.T) {
	o := observed(t)
	execute(t, o.Role, o.Database, `CREATE TABLE rows AS SELECT n, repeat('x', 1000) FROM generate_series(1, 16000) AS n`)
	err := o.session(t.Context(), func(ctx context.Context, c *pgx.Conn) error {
		if err := checkpoint(ctx, c); err != nil {
			return err
		}
		if err := o.proveCold(ctx, c); err == nil || !strings.Contains(err.Error(), "still in memory") {
			t.Errorf("a table that was just written is cold: %v", err)
		}
		for _, step := range []func(context.Context, *pgx.Conn) error{checkpoint, o.emptyPages, o.proveCold} {
			if err := step(ctx, c); err != nil {
				return err
			}
		}
		if err := o.proveCold(ctx, c); err == nil {
			t.Error("pages that were just read are cold")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// The view of buffers is of all databases, and nothing of it stays. Postgres 15, which
// cannot empty a buffer, has another function in its place here.
func TestBuffersAreEmptiedFromOutside(t *testing.T) {
	o := observed(t)
	execute(t, o.Role, o.Database, `CREATE TABLE rows AS SELECT n FROM generate_series(1, 100) AS n`)
	err := o.session(t.Context(), func(ctx context.Context, c *pgx.Conn) error {
		if version := c.PgConn().ParameterStatus("server_version"); version >= "17" {
			return o.emptyBuffers(ctx, c)
		}
		err := o.emptyBuffers(ctx, c)
		if err == nil || !strings.Contains(err.Error(), "pg_buffercache_evict") {
			t.Errorf("got %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if left := answers(t, "postgres", "postgres", `SELECT extname::text FROM pg_extension WHERE extname = 'pg_buffercache' UNION SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'pgstorage%'`); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What the shell would not take for one path is not given to it.
func TestUnusualPathsAreRefused(t *testing.T) {
	for path, plain := range map[string]bool{
		"/var/lib/postgresql/data/pgdata/base/16385": true, "relative": false, "/a b": false, "/a'b": false, "/a;b": false, "/a$b": false, "/a\nb": false,
	} {
		if plainPath.MatchString(path) != plain {
			t.Errorf("%q", path)
		}
	}
}

// Nothing is touched where caches cannot be emptied, or may not be.
func TestColdCacheIsRefused(t *testing.T) {
	if err := (&Observer{}).Chill(t.Context()); !errors.Is(err, ErrKeepsCaches) {
		t.Error(err)
	}
	o := observed(t)
	o.Cold = true
	if err := o.Chill(t.Context()); answers(t, "postgres", "postgres", "SHOW server_version_num")[0] < "170000" && (err == nil || !strings.Contains(err.Error(), "the server is 1")) {
		t.Error(err)
	}
}
