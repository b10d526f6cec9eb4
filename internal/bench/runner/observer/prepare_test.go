package observer

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// The owner may call what pg_amcheck calls and no more, and the observer's role can be
// dropped while the database stays.
func TestPrepare(t *testing.T) {
	o := observed(t)
	execute(t, "postgres", "postgres", "CREATE ROLE passing_checker LOGIN SUPERUSER")
	o.Config = configOf(t, "passing_checker", "postgres")
	if note, err := o.Prepare(t.Context()); note != nil || err != nil {
		t.Fatal(note, err)
	}
	got := answers(t, o.Role, o.Database, `SELECT DISTINCT p.proname::text FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid JOIN pg_proc AS p ON p.oid = d.objid
		WHERE e.extname = 'amcheck' AND has_function_privilege(p.oid, 'EXECUTE') ORDER BY 1`)
	if diff := cmp.Diff([]string{"bt_index_check", "verify_heapam"}, got); diff != "" {
		t.Error(diff)
	}
	if got := answers(t, o.Role, o.Database, `SELECT rolsuper::text FROM pg_roles WHERE rolname = CURRENT_USER`); got[0] != "false" {
		t.Error("the owner is a superuser")
	}
	execute(t, "postgres", "postgres", "DROP ROLE passing_checker")
}

// A superuser enters no database that was entered before, also not one that two come to.
func TestPrepareEntersOnce(t *testing.T) {
	o := observed(t)
	notes, errs := make([]error, 3), make([]error, 3)
	var all sync.WaitGroup
	for i := range notes {
		all.Go(func() { notes[i], errs[i] = o.Prepare(t.Context()) })
	}
	all.Wait()
	entered := 0
	for i := range notes {
		switch {
		case errs[i] != nil:
			t.Error(errs[i])
		case notes[i] == nil:
			entered++
		case !errors.Is(notes[i], ErrNotFresh):
			t.Error(notes[i])
		}
	}
	if entered != 1 {
		t.Errorf("entered %d times", entered)
	}
	// Its owner can take back nothing of that.
	execute(t, o.Role, o.Database, "ALTER DATABASE "+o.Database+" SET work_mem = '1MB'", "ALTER DATABASE "+o.Database+" RESET ALL")
	if note, err := o.Prepare(t.Context()); !errors.Is(note, ErrNotFresh) || err != nil {
		t.Error(note, err)
	}
}

// A database with settings is not as CloudNativePG made it.
func TestPrepareEntersNothingThatWasTouched(t *testing.T) {
	o := observed(t)
	execute(t, o.Role, o.Database, "ALTER DATABASE "+o.Database+" SET search_path = evil")
	note, err := o.Prepare(t.Context())
	if !errors.Is(note, ErrNotFresh) || err != nil {
		t.Error(note, err)
	}
	if got := answers(t, "postgres", o.Database, `SELECT extname::text FROM pg_catalog.pg_extension WHERE extname = 'amcheck'`); len(got) > 0 {
		t.Error("it was entered")
	}
}

func TestPrepareEntersOnlyItsDatabase(t *testing.T) {
	o := observed(t)
	o.Role = checker
	if _, err := o.Prepare(t.Context()); err == nil || !strings.Contains(err.Error(), "belongs to") {
		t.Error(err)
	}
	o.Database = "pgstorage_bench_none"
	if _, err := o.Prepare(t.Context()); err == nil {
		t.Error("a database that is not there was claimed")
	}
}

// A superuser must not meet the contents of an author's database, whatever its settings.
func TestNoSuperuserInTheDatabaseOfAnAuthor(t *testing.T) {
	o := observed(t)
	o.Config, o.Cold = configOf(t, checker, o.Database), true
	_, standbys := o.Standbys(t.Context())
	_, look := o.Look(t.Context())
	_, counted := o.Counted(t.Context())
	_, prepare := o.Prepare(t.Context())
	for i, err := range []error{standbys, look, counted, prepare, o.Chill(t.Context())} {
		if !errors.Is(err, ErrOwned) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// Names mean the objects of Postgres also where the settings of database and role say
// otherwise.
func TestHarden(t *testing.T) {
	o := observed(t)
	execute(t, "postgres", "postgres", "CREATE ROLE hardened LOGIN", "ALTER ROLE hardened SET search_path = evil, pg_catalog",
		"ALTER ROLE hardened IN DATABASE "+o.Database+" SET search_path = evil, pg_catalog", "ALTER DATABASE "+o.Database+" SET search_path = evil, pg_catalog")
	err := connected(t, Harden(configOf(t, "hardened", o.Database)), func(ctx context.Context, c *pgx.Conn) error {
		var path string
		if err := c.QueryRow(ctx, "SHOW search_path").Scan(&path); err != nil {
			return err
		}
		if path != "" {
			t.Errorf("search_path is %s", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
