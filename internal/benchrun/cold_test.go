package benchrun

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Pages that were just written are in memory, and are not once they were emptied.
func TestPagesAreEmptied(t *testing.T) {
	p := sharedPostgres(t)
	p.sql(t, p.database(t), `CREATE TABLE rows AS SELECT n, repeat('x', 1000) FROM generate_series(1, 16000) AS n`)
	d, err := openDatabase(checkRole, "sesame")
	if err != nil {
		t.Fatal(err)
	}
	err = session(t.Context(), d.checker, queryTimeout, func(ctx context.Context, c *pgx.Conn) error {
		if err := proveCold(ctx, c); err == nil || !strings.Contains(err.Error(), "still in memory") {
			t.Errorf("a table that was just written is cold: %v", err)
		}
		for _, step := range []func(context.Context, *pgx.Conn) error{checkpoint, emptyPages, proveCold} {
			if err := step(ctx, c); err != nil {
				return err
			}
		}
		if err := proveCold(ctx, c); err == nil {
			t.Error("pages that were just read are cold")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
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

// Nothing is touched where caches cannot be emptied.
func TestColdCacheIsRefused(t *testing.T) {
	for want, r := range map[string]*run{
		"superuser of integrity Full": {db: &database{}},
		"the server is 16.4":          {db: &database{checker: &pgx.ConnConfig{}}, server: Server{Major: 16, Version: "16.4"}},
	} {
		err := r.canChill(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	r := &run{Runner: &Runner{}}
	if err := r.chill(t.Context()); err != nil {
		t.Errorf("nothing was asked for: %v", err)
	}
	r = &run{Runner: &Runner{Log: slog.New(slog.DiscardHandler)}, db: &database{}, publish: func(Report) {}}
	r.Spec.Pgbench.ColdCache = true
	var f *Failure
	if err := r.chill(t.Context()); !errors.As(err, &f) || f.Reason != ReasonCacheNotEmptied {
		t.Errorf("%v", err)
	}
}
