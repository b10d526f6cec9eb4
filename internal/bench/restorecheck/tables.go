package restorecheck

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
)

// checkTable counts rows, but not further than asked.
func checkTable(ctx context.Context, owner *pgx.ConnConfig, t v1alpha1.VerifiedTable) v1alpha1.IntegrityCheck {
	c := v1alpha1.IntegrityCheck{Name: CheckTable, Result: v1alpha1.CheckPassed, Message: fmt.Sprintf("%s has %d rows or more", t.Name, t.MinRows)}
	schema, table, _ := strings.Cut(t.Name, ".")
	var rows int64
	err := connect(ctx, owner, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, `SELECT pg_catalog.count(*) FROM (SELECT FROM `+pgx.Identifier{schema, table}.Sanitize()+` LIMIT $1) AS t`, t.MinRows).Scan(&rows)
	})
	switch {
	case err != nil:
		c.Result, c.Message = v1alpha1.CheckFailed, excerpt.Truncate(t.Name+": "+err.Error(), mostMessage)
	case rows < int64(t.MinRows):
		c.Result, c.Message = v1alpha1.CheckFailed, fmt.Sprintf("%s has %d rows, which are fewer than %d", t.Name, rows, t.MinRows)
	}
	return c
}

// checkQuery runs the query by the extended protocol, which takes one statement and no more.
func checkQuery(ctx context.Context, owner *pgx.ConnConfig, query string) v1alpha1.IntegrityCheck {
	c := v1alpha1.IntegrityCheck{Name: CheckQuery, Result: v1alpha1.CheckPassed, Message: "it returned true"}
	var answer *bool
	owner = owner.Copy()
	delete(owner.RuntimeParams, "search_path") // names mean what they do to the owner
	err := connect(ctx, owner, func(ctx context.Context, conn *pgx.Conn) error {
		return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
			return tx.QueryRow(ctx, query).Scan(&answer)
		})
	})
	switch {
	case err != nil:
		c.Result, c.Message = v1alpha1.CheckFailed, excerpt.Truncate(err.Error(), mostMessage)
	case answer == nil:
		c.Result, c.Message = v1alpha1.CheckFailed, "it returned null"
	case !*answer:
		c.Result, c.Message = v1alpha1.CheckFailed, "it returned false"
	}
	return c
}

// session is a connection for one short call.
func session(ctx context.Context, config *pgx.ConnConfig, use func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	return connect(ctx, config, use)
}

func connect(ctx context.Context, config *pgx.ConnConfig, use func(context.Context, *pgx.Conn) error) (err error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	return use(ctx, conn)
}
