package observer

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// ErrNotFresh is the refusal to prepare a database in which a script may have run.
var ErrNotFresh = errors.New("the database has settings of its own, or an attempt before this one has prepared it. It may hold what a script left, so no superuser enters it")

// eventTriggersSince is the first version that has the setting event_triggers.
const eventTriggersSince = 170000

// Prepare lets the owner of the benchmark's database call amcheck, so that pg_amcheck
// needs no superuser. It must be called before any script runs. What it cannot do it
// returns as note; an error means that the database must not be used, because nothing
// says that it was entered.
func (o *Observer) Prepare(ctx context.Context) (note, err error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	version := 0
	err = o.sessionOf(ctx, o.writer(), func(ctx context.Context, c *pgx.Conn) error {
		if err := c.QueryRow(ctx, `SELECT pg_catalog.current_setting('server_version_num')::pg_catalog.int4`).Scan(&version); err != nil {
			return err
		}
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error { return o.claim(ctx, tx) })
	})
	switch {
	case errors.Is(err, ErrNotFresh):
		return err, nil
	case err != nil:
		return nil, fmt.Errorf("claim database %s: %w", o.Database, err)
	}
	return o.install(ctx, version), nil
}

// claim the database, permanently: the mark is a setting of our own role, which the database's
// owner cannot remove. The lock lets one of two that come at once see the other's mark.
func (o *Observer) claim(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, `SELECT FROM pg_catalog.pg_authid WHERE rolname = CURRENT_USER FOR UPDATE`); err != nil {
		return err
	}
	var owner string
	var touched bool
	err := tx.QueryRow(ctx, `SELECT pg_catalog.pg_get_userbyid(d.datdba)::pg_catalog.text,
		EXISTS (SELECT FROM pg_catalog.pg_db_role_setting AS s WHERE s.setdatabase = d.oid)
		FROM pg_catalog.pg_database AS d WHERE d.datname = $1`, o.Database).Scan(&owner, &touched)
	switch {
	case err != nil:
		return err
	case owner != o.Role:
		return fmt.Errorf("it belongs to %s, not to %s", owner, o.Role)
	case touched:
		return ErrNotFresh
	}
	_, err = tx.Exec(ctx, `ALTER ROLE CURRENT_USER IN DATABASE `+pgx.Identifier{o.Database}.Sanitize()+` SET pgstorage.prepared = 'on'`)
	return err
}

// checks are the functions of amcheck that pg_amcheck calls without --parent-check. They read,
// lock nothing against readers or writers, and report only damage.
const checks = `SELECT p.oid::pg_catalog.regprocedure::pg_catalog.text, n.nspname::pg_catalog.text FROM pg_catalog.pg_depend AS d
	JOIN pg_catalog.pg_extension AS e ON e.oid = d.refobjid AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass
	JOIN pg_catalog.pg_proc AS p ON p.oid = d.objid AND d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass
	JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
	WHERE e.extname = 'amcheck' AND p.proname IN ('verify_heapam', 'bt_index_check', 'gin_index_check')`

// install amcheck in the database that was claimed.
func (o *Observer) install(ctx context.Context, version int) error {
	config := o.writer().Copy()
	config.Database = o.Database
	return InstallChecks(ctx, config, o.Role, version)
}

// InstallChecks installs amcheck in the database of a connection of a superuser, and lets a
// role call what pg_amcheck calls. It enters the database as the superuser that owns the
// server, so that nothing depends on another role, which may go. version is the server's
// server_version_num.
func InstallChecks(ctx context.Context, config *pgx.ConnConfig, role string, version int) error {
	config = Harden(config)
	config.RuntimeParams["local_preload_libraries"] = ""
	if version >= eventTriggersSince {
		config.RuntimeParams["event_triggers"] = "off"
	}
	err := connect(ctx, config, func(ctx context.Context, c *pgx.Conn) error {
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error { return grantChecks(ctx, tx, role) })
	})
	if err != nil {
		return fmt.Errorf("extension amcheck: %w", err)
	}
	return nil
}

func grantChecks(ctx context.Context, tx pgx.Tx, name string) error {
	if err := asServerOwner(ctx, tx); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS amcheck WITH SCHEMA pg_catalog`); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, checks)
	if err != nil {
		return err
	}
	type check struct{ Function, Schema string }
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[check])
	if err != nil {
		return err
	}
	role := pgx.Identifier{name}.Sanitize()
	for _, f := range found {
		if _, err := tx.Exec(ctx, `GRANT EXECUTE ON FUNCTION `+f.Function+` TO `+role); err != nil {
			return err
		}
		if f.Schema == "pg_catalog" {
			continue
		}
		if _, err := tx.Exec(ctx, `GRANT USAGE ON SCHEMA `+pgx.Identifier{f.Schema}.Sanitize()+` TO `+role); err != nil {
			return err
		}
	}
	return nil
}

// asServerOwner continues a transaction as the superuser that initdb made: what belongs
// to it, and what it grants, keeps no other role from being dropped.
func asServerOwner(ctx context.Context, tx pgx.Tx) error {
	var owner string
	// BOOTSTRAP_SUPERUSERID in PostgreSQL, src/include/catalog/pg_authid.dat.
	if err := tx.QueryRow(ctx, `SELECT rolname::pg_catalog.text FROM pg_catalog.pg_roles WHERE oid = 10`).Scan(&owner); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `SET LOCAL ROLE `+pgx.Identifier{owner}.Sanitize())
	return err
}
