package pgbench

import "testing"

func TestHarmless(t *testing.T) {
	for name, script := range map[string]string{
		"pgbench's own TPC-B": `\set aid random(1, 100000 * :scale)
\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (1, 1, :aid, :delta, CURRENT_TIMESTAMP);
END;`,
		"a read":      "SELECT count(*), max(abalance) FROM pgbench_accounts WHERE aid IN (1, 2) AND filler LIKE 'SET synchronous_commit%'; -- SET x",
		"an upsert":   "INSERT INTO pgbench_branches (bid, bbalance) VALUES (1, 0) ON CONFLICT (bid) DO UPDATE SET bbalance = 1",
		"with":        "WITH s AS (SELECT aid FROM pgbench_accounts WHERE aid < 10) SELECT sum(aid) FROM s",
		"conditional": "\\if :client_id\nSELECT 1;\n\\endif",
		"nothing":     "\n-- nothing\n",
	} {
		if err := Harmless(script); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, script := range map[string]string{
		"SET":                          "SET synchronous_commit = off; SELECT 1",
		"SET LOCAL in a transaction":   "BEGIN;\nset local synchronous_commit to off;\nUPDATE pgbench_accounts SET abalance = 1; END;",
		"set_config":                   "SELECT set_config('synchronous_commit', 'off', false)",
		"set_config by its full name":  "SELECT pg_catalog.set_config('synchronous_commit', 'off', false)",
		"set_config in quotes":         `SELECT "set_config"('synchronous_commit', 'off', false)`,
		"set_config behind a comment":  "SELECT set_config/**/('synchronous_commit', 'off', false)",
		"pg_settings":                  "UPDATE pg_settings SET setting = 'off' WHERE name = 'synchronous_commit'",
		"pg_settings in quotes":        `UPDATE "pg_settings" SET setting = 'off' WHERE name = 'synchronous_commit'`,
		"DO":                           "DO $$ BEGIN PERFORM set_config('synchronous_commit', 'off', false); END $$",
		"CALL":                         "CALL weaken()",
		"a function of one's own":      "SELECT weaken()",
		"a function on a new line":     "SELECT weaken\n()",
		"a function in INSERT":         "INSERT INTO pgbench_history (tid) SELECT weaken(1)",
		"ALTER ROLE":                   "ALTER ROLE bench SET synchronous_commit = off",
		"ALTER DATABASE":               "ALTER DATABASE bench SET synchronous_commit = off",
		"text of the server in SQL":    "SELECT 'SET synchronous_commit = off' AS x \\gset\n:x;",
		"gset on its own line":         "SELECT 'x' AS x\n\\gset",
		"a variable as statement":      ":x",
		"two statements in one":        "SELECT 1 \\; SET synchronous_commit = off",
		"DDL":                          "CREATE TABLE t (a int)",
		"SELECT INTO":                  "SELECT 1 INTO t",
		"PREPARE":                      "PREPARE p AS SELECT 1",
		"a shell":                      "\\setshell x echo 1",
		"a continued command":          "\\set x \\\nSET synchronous_commit = off",
		"an escape string":             `SELECT E'\' ; SET synchronous_commit = off; --'`,
		"an unfinished quote":          "SELECT '",
		"dollar quotes":                "SELECT $$'$$; SET synchronous_commit = off; --'",
		"a backslash in a constant":    `SELECT '\'; SET synchronous_commit = off; --'`,
		"unicode identifiers":          `SELECT U&"\0073et_config"('synchronous_commit', 'off', false)`,
		"EXPLAIN ANALYZE":              "EXPLAIN ANALYZE SELECT 1",
		"no-break space in an opener":  "SET\u00a0synchronous_commit = off",
		"a lone carriage return":       "-- x\rSET synchronous_commit = off",
		"a comment in a meta command":  "\\set x 1 -- \\\nSET synchronous_commit = off",
		"COPY":                         "COPY pgbench_history FROM PROGRAM 'true'",
		"LISTEN":                       "LISTEN x",
		"a table of the catalogue":     "TABLE pg_settings",
		"a query of the catalogue":     "SELECT * FROM pg_roles",
		"a function in a quoted name":  `SELECT "now"()`,
		"a quote around a command":     "SELECT '\n\\set x '; SET synchronous_commit = off; SELECT '\n'",
		"a vertical tab before a call": "SELECT weaken\v()",
		"a form feed before a call":    "SELECT weaken\f()",
		"a function of another schema": "SELECT public.now()",
	} {
		if Harmless(script) == nil {
			t.Errorf("%s is taken for harmless", name)
		}
	}
}
