package restorecheck

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/amcheck"
	"github.com/pgstorage/pgstorage/internal/bench/runner/observer"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
)

// queryTimeout bounds one query that reads no table of the application.
const queryTimeout = 30 * time.Second

// Checker checks a restored database.
type Checker struct {
	Spec Spec
	// Superuser connects to a database that a superuser owns.
	Superuser *pgx.ConnConfig
	// OwnerPassword is that of the role that owns the application's database.
	OwnerPassword string
	// Bin is the folder of pg_amcheck; empty is the PATH. Dir is where it runs.
	Bin, Dir string
	// Connecting is how long the server may take to accept the superuser.
	Connecting wait.Backoff
}

// Run runs the checks. A database that is not the one that was backed up is not entered. An
// error means that the server could not be asked.
func (c *Checker) Run(ctx context.Context) (Report, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(c.Spec.Seconds)*time.Second)
	defer cancel()
	at, err := c.settle(ctx)
	if err != nil {
		return Report{}, err
	}
	r := Report{WAL: at.wal, Checks: []v1alpha1.IntegrityCheck{checkSystem(c.Spec.System, at.system), checkWAL(c.Spec.WAL, at)}}
	if at.system != c.Spec.System {
		return r, nil
	}
	application := c.Superuser.Copy()
	application.Database = c.Spec.Database
	if err := observer.InstallChecks(ctx, application, c.Spec.Owner, at.version); err != nil {
		r.Checks = append(r.Checks, amcheck.NotRun(err.Error()))
	} else {
		r.Checks = append(r.Checks, c.amcheck(ctx))
	}
	owner := c.owner()
	for _, t := range c.Spec.Tables {
		r.Checks = append(r.Checks, checkTable(ctx, owner, t))
	}
	if c.Spec.Query != "" {
		r.Checks = append(r.Checks, checkQuery(ctx, owner, c.Spec.Query))
	}
	checksums, size := c.checksums(ctx)
	r.Size, r.Checks = size, append(r.Checks, checksums)
	return r, ctx.Err()
}

// owner connects to the application's database as the role that owns it.
func (c *Checker) owner() *pgx.ConnConfig {
	config := observer.Harden(c.Superuser)
	config.Database, config.User, config.Password = c.Spec.Database, c.Spec.Owner, c.OwnerPassword
	config.RuntimeParams["default_transaction_read_only"] = "on"
	return config
}

func (c *Checker) amcheck(ctx context.Context) v1alpha1.IntegrityCheck {
	return amcheck.Run(ctx, amcheck.Options{
		Bin: c.Bin, Dir: c.Dir, Database: c.Spec.Database, Timeout: time.Duration(c.Spec.Seconds) * time.Second,
		Env: []string{"PGUSER=" + c.Spec.Owner, "PGPASSWORD=" + c.OwnerPassword},
	})
}

// settle waits until the server accepts the superuser, and returns where it is.
func (c *Checker) settle(ctx context.Context) (at position, err error) {
	var last error
	err = wait.ExponentialBackoffWithContext(ctx, c.Connecting, func(ctx context.Context) (bool, error) {
		at, last = positionOf(ctx, observer.Harden(c.Superuser))
		return last == nil, nil
	})
	if err != nil && last != nil {
		return at, last
	}
	return at, err
}

// checksums are counted by the server while pg_amcheck and the queries read.
func (c *Checker) checksums(ctx context.Context) (v1alpha1.IntegrityCheck, int64) {
	check := v1alpha1.IntegrityCheck{Name: CheckChecksums, Result: v1alpha1.CheckPassed, Message: "no page that was read failed its checksum"}
	var failures *int64
	var size int64
	err := session(ctx, observer.Harden(c.Superuser), func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, `SELECT s.checksum_failures, pg_catalog.pg_database_size(s.datid)
			FROM pg_catalog.pg_stat_database AS s WHERE s.datname = $1`, c.Spec.Database).Scan(&failures, &size)
	})
	switch {
	case err != nil:
		check.Result, check.Message = v1alpha1.CheckNotRun, excerpt.Truncate(err.Error(), mostMessage)
	case failures == nil:
		check.Result, check.Message = v1alpha1.CheckNotRun, "data_checksums is off"
	case *failures > 0:
		check.Result, check.Message = v1alpha1.CheckFailed, fmt.Sprintf("%d pages failed their checksum", *failures)
	}
	return check, size
}

func checkSystem(want, have string) v1alpha1.IntegrityCheck {
	c := v1alpha1.IntegrityCheck{Name: CheckSystem, Result: v1alpha1.CheckPassed, Message: "the backup is of this database"}
	if want != have {
		c.Result = v1alpha1.CheckFailed
		c.Message = fmt.Sprintf("the backup is of another database: its system identifier is %s and not %s; see spec.backup.objectStore.archive", have, want)
	}
	return c
}

func checkWAL(want string, at position) v1alpha1.IntegrityCheck {
	c := v1alpha1.IntegrityCheck{Name: CheckWAL, Result: v1alpha1.CheckPassed, Message: "all WAL is restored that was archived at the start, to file " + at.wal}
	switch {
	case want == "":
		c.Result, c.Message = v1alpha1.CheckNotRun, "what was archived at the start is not known; WAL is restored to file "+at.wal
	case at.wal < want:
		c.Result = v1alpha1.CheckFailed
		c.Message = fmt.Sprintf("the restore ended in WAL file %s, but %s was archived: a file in between is missing or damaged in the store", at.wal, want)
	}
	return c
}

// Environment reads a Checker from the environment of its container.
func Environment() (*Checker, error) {
	s, err := Parse(os.Getenv(EnvSpec))
	if err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig("")
	if err != nil {
		return nil, fmt.Errorf("connection from the environment: %w", err)
	}
	return &Checker{Spec: s, Superuser: config, OwnerPassword: os.Getenv(EnvOwnerPassword)}, nil
}
