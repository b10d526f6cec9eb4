package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// shadowed is what a hostile script puts in front of the names that sessions of the runner or
// of a check resolve. It works once the database's search_path begins with its schema. Each
// definition that some version lacks is skipped.
var shadowed = map[string][]string{
	"functions": {
		`CREATE FUNCTION evil.current_setting(text) RETURNS text LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.seize(); RETURN pg_catalog.current_setting($1); END $f$`,
		`CREATE FUNCTION evil.pg_read_file(text, bigint, bigint, boolean) RETURNS text LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.seize(); RETURN NULL; END $f$`,
		`CREATE FUNCTION evil.pg_read_file(text, integer, integer, boolean) RETURNS text LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.seize(); RETURN NULL; END $f$`,
		`CREATE FUNCTION evil.pg_ls_dir(text, boolean, boolean) RETURNS SETOF text LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.seize(); END $f$`,
		`CREATE FUNCTION evil.starts_with(text, text) RETURNS boolean LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.seize(); RETURN true; END $f$`,
		`CREATE FUNCTION evil.split_part(text, text, integer) RETURNS text LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.seize(); RETURN pg_catalog.split_part($1, $2, $3); END $f$`,
		`CREATE FUNCTION evil.current_database() RETURNS name LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.seize(); RETURN pg_catalog.current_database(); END $f$`,
		`CREATE FUNCTION evil.set_config(text, text, boolean) RETURNS text LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.seize(); RETURN ''; END $f$`,
		`CREATE FUNCTION evil.has_function_privilege(oid, text) RETURNS boolean LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.seize(); RETURN true; END $f$`,
		`CREATE FUNCTION evil.verify_heapam(oid) RETURNS SETOF integer LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.seize(); END $f$`,
		`CREATE FUNCTION evil.bt_index_check(oid, boolean) RETURNS void LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.seize(); END $f$`,
		`CREATE FUNCTION evil.same(name, name) RETURNS boolean LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.seize(); RETURN $1 OPERATOR(pg_catalog.=) $2; END $f$`,
		`CREATE FUNCTION evil.same(oid, oid) RETURNS boolean LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.seize(); RETURN $1 OPERATOR(pg_catalog.=) $2; END $f$`,
		`CREATE FUNCTION evil.same(text, text) RETURNS boolean LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.seize(); RETURN $1 OPERATOR(pg_catalog.=) $2; END $f$`,
		`CREATE FUNCTION evil.join(text, text) RETURNS text LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.seize(); RETURN $1 OPERATOR(pg_catalog.||) $2; END $f$`,
		`CREATE OPERATOR evil.= (FUNCTION = evil.same, LEFTARG = name, RIGHTARG = name)`,
		`CREATE OPERATOR evil.= (FUNCTION = evil.same, LEFTARG = oid, RIGHTARG = oid)`,
		`CREATE OPERATOR evil.= (FUNCTION = evil.same, LEFTARG = text, RIGHTARG = text)`,
		`CREATE OPERATOR evil.|| (FUNCTION = evil.join, LEFTARG = text, RIGHTARG = text)`,
	},
	"catalogs": {
		`CREATE VIEW evil.pg_stat_replication AS SELECT evil.seized('quorum') AS sync_state`,
		`CREATE VIEW evil.pg_settings AS SELECT name, setting, evil.seized(source) AS source FROM pg_catalog.pg_settings`,
		`CREATE VIEW evil.pg_class AS SELECT *, evil.seized('') AS seized FROM pg_catalog.pg_class WHERE evil.seized('x') IS NOT NULL`,
		`CREATE VIEW evil.pg_extension AS SELECT * FROM pg_catalog.pg_extension WHERE evil.seized('x') IS NOT NULL`,
		`CREATE VIEW evil.pg_database AS SELECT * FROM pg_catalog.pg_database WHERE evil.seized('x') IS NOT NULL`,
		`CREATE VIEW evil.pg_stat_user_tables AS SELECT * FROM pg_catalog.pg_stat_user_tables WHERE evil.seized('x') IS NOT NULL`,
		`CREATE TEMPORARY VIEW pg_stat_replication AS SELECT evil.seized('quorum') AS sync_state`,
		`CREATE FUNCTION pg_temp.current_setting(text) RETURNS text LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.seize(); RETURN ''; END $f$`,
	},
	"indexes": {
		`CREATE FUNCTION evil.expression(integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $f$ BEGIN PERFORM evil.seize(); RETURN $1; END $f$`,
		`CREATE TABLE public.expressions AS SELECT n FROM generate_series(1, 100) AS n`,
		`CREATE INDEX ON public.expressions (evil.expression(n)) WHERE evil.expression(n) > 0`,
		`CREATE FUNCTION evil.order_of(integer, integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $f$ BEGIN PERFORM evil.seize(); RETURN pg_catalog.btint4cmp($1, $2); END $f$`,
		`CREATE OPERATOR CLASS evil.ordered FOR TYPE integer USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 evil.order_of(integer, integer)`,
		`CREATE TABLE public.domains AS SELECT n FROM generate_series(1, 100) AS n`,
		`CREATE INDEX ON public.domains (n evil.ordered)`,
	},
	"settings and events": {
		`CREATE FUNCTION evil.event() RETURNS event_trigger LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.seize(); END $f$`,
		`CREATE EVENT TRIGGER evil_start ON ddl_command_start EXECUTE FUNCTION evil.event()`,
		`CREATE EVENT TRIGGER evil_login ON login EXECUTE FUNCTION evil.event()`,
		`ALTER ROLE ` + checkRole + ` SET search_path = evil, pg_catalog`,
		`ALTER ROLE ALL SET search_path = evil, pg_catalog`,
		`GRANT ` + checkRole + ` TO CURRENT_USER`,
		`ALTER DATABASE %[1]s SET session_preload_libraries = 'evil'`,
		`ALTER DATABASE %[1]s SET event_triggers = on`,
		`ALTER DATABASE %[1]s SET row_security = off`,
		`ALTER DATABASE %[1]s SET default_transaction_read_only = off`,
		`ALTER ROLE CURRENT_USER SET search_path = evil, pg_catalog, public`,
	},
}

// hostile script of a benchmark: it defines what is in a set, and puts it first.
func hostile(database string, set []string) string {
	statements := append([]string{
		`CREATE SCHEMA IF NOT EXISTS evil`,
		`GRANT ALL ON SCHEMA evil TO PUBLIC`,
		// A superuser who runs it gives the author a superuser's rights.
		`CREATE FUNCTION evil.seize() RETURNS void LANGUAGE plpgsql AS $f$ BEGIN ALTER ROLE %[1]s SUPERUSER; EXCEPTION WHEN OTHERS THEN NULL; END $f$`,
		`CREATE FUNCTION evil.seized(text) RETURNS text LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.seize(); RETURN $1; END $f$`,
	}, set...)
	statements = append(statements, `ALTER DATABASE %[1]s SET search_path = evil, pg_catalog, public`)
	var script strings.Builder
	for _, s := range statements {
		s = strings.ReplaceAll(s, "%[1]s", database)
		fmt.Fprintf(&script, "DO $do$ BEGIN EXECUTE $s$ %s $s$; EXCEPTION WHEN OTHERS THEN NULL; END $do$;\n", s)
	}
	return script.String()
}

// attack a server with the script of a benchmark with integrity Full, which runs to its
// end.
func attack(t *testing.T, script func(database string) string) (*postgres, string, Transcript) {
	t.Helper()
	p := sharedPostgres(t)
	name := p.database(t)
	s := parsed(t, `{"cluster": "shop", "durability": "Local", "pgbench": {"scale": 1, "clients": [1], "transactions": 1,
		"customScripts": [{"configMap": "a", "key": "attack.sql"}]}}`)
	s.ScriptsDir = t.TempDir()
	if err := os.WriteFile(filepath.Join(s.ScriptsDir, "attack.sql"), []byte(script(name)), 0o600); err != nil {
		t.Fatal(err)
	}
	runner, _ := p.runner(t, s)
	outcome, err := runner.Run(t.Context())
	if err != nil {
		t.Error(err)
	}
	return p, name, outcome
}

// ask a superuser's question of a database.
func (p *postgres) ask(t *testing.T, database, query string, args ...any) (answer string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), fmt.Sprintf("host=%s user=postgres dbname=%s search_path=pg_catalog", p.Dir, database))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if err := conn.QueryRow(t.Context(), query, args...).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return answer
}

// The author of a script owns the database. Nothing that is in it may run with more
// rights than the author has.
func TestAuthorGainsNothing(t *testing.T) {
	for name, set := range shadowed {
		t.Run(name, func(t *testing.T) {
			p, author, outcome := attack(t, func(database string) string { return hostile(database, set) })
			if got := p.ask(t, author, `SELECT string_agg(nspname, ' ') FROM pg_namespace WHERE nspname = 'evil'`); got != "evil" {
				t.Fatal("the script was not run")
			}
			if got := p.ask(t, "postgres", `SELECT rolsuper::text FROM pg_roles WHERE rolname = $1`, author); got != "false" {
				t.Error("the author is a superuser")
			}
			if got := results(outcome.Report.Integrity)[CheckAmcheck]; got != Passed {
				t.Errorf("pg_amcheck: %s: %+v", got, outcome.Report.Integrity)
			}
		})
	}
}

// The programs of a script would run beside the runner, with its token and its files.
// These are all the ways of writing them that pgbench takes, and in the end the run
// must have failed before any of them.
func TestProgramsOfAScriptAreRefused(t *testing.T) {
	p := sharedPostgres(t)
	p.database(t)
	for name, command := range map[string]string{
		"shell":        `\shell %s`,
		"setshell":     `\setshell x %s`,
		"case":         `\SetSHELL x %s`,
		"indented":     "  \t\\shell %s",
		"after SQL":    `SELECT 1 \; SELECT 2 \shell %s`,
		"spaces":       "\\ \t shell %s",
		"continuation": "\\\\\n shell %s",
		"carriage":     "\\setshell\\\r\n x %s",
		"form feed":    "\\\f\vshell %s",
		"comment":      "/* a */ \\shell %s",
		"second line":  "\\set y 1\n\\shell %s",
	} {
		t.Run(name, func(t *testing.T) {
			trace := filepath.Join(t.TempDir(), "trace")
			s := parsed(t, `{"cluster": "shop", "durability": "Local", "pgbench": {"scale": 1, "clients": [1], "transactions": 2, "integrity": "Basic",
				"customScripts": [{"configMap": "a", "key": "fine.sql"}, {"configMap": "a", "key": "attack.sql"}]}}`)
			s.ScriptsDir = t.TempDir()
			for key, text := range map[string]string{"fine.sql": "SELECT 1;\n", "attack.sql": fmt.Sprintf(command, "touch "+trace) + "\nSELECT 1;\n"} {
				if err := os.WriteFile(filepath.Join(s.ScriptsDir, key), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			runner, rec := p.runner(t, s)
			_, err := runner.Run(t.Context())
			wantReason(t, err, rec, ReasonFailed)
			if !strings.Contains(rec.last().Message, "attack.sql") || !strings.Contains(rec.last().Message, "runs a program") {
				t.Error(rec.last().Message)
			}
			if _, err := os.Stat(trace); err == nil {
				t.Error("the program was run")
			}
		})
	}
}
