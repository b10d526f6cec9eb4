package runner

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/amcheck"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
)

// checksumFailures of the benchmark's database; nil where the server has no
// checksums.
func (d *database) checksumFailures(ctx context.Context) (*int64, error) {
	var n *int64
	err := session(ctx, d.config, queryTimeout, func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, `SELECT checksum_failures FROM pg_stat_database WHERE datname = current_database()`).Scan(&n)
	})
	if err != nil {
		return nil, fmt.Errorf("checksum failures: %w", err)
	}
	return n, nil
}

// checkChecksums compares what the server counted before and after.
func checkChecksums(before, after *int64) v1alpha1.IntegrityCheck {
	c := v1alpha1.IntegrityCheck{Name: CheckChecksums, Result: Passed, Message: "no page failed its checksum"}
	switch {
	case before == nil || after == nil:
		c.Result, c.Message = NotRun, "data_checksums is off"
	case *after != 0 || *before != *after:
		c.Result, c.Message = Failed, fmt.Sprintf("%d pages failed their checksum, %d of them before the benchmark", *after, *before)
	}
	return c
}

// balances are the sums that pgbench's scripts keep equal.
type balances struct{ Accounts, Tellers, Branches, History int64 }

func (d *database) balances(ctx context.Context, timeout time.Duration) (balances, error) {
	var b balances
	err := session(ctx, d.config, timeout, func(ctx context.Context, c *pgx.Conn) error {
		// One statement, so one snapshot.
		return c.QueryRow(ctx, `SELECT
			(SELECT coalesce(sum(abalance), 0) FROM public.pgbench_accounts),
			(SELECT coalesce(sum(tbalance), 0) FROM public.pgbench_tellers),
			(SELECT coalesce(sum(bbalance), 0) FROM public.pgbench_branches),
			(SELECT coalesce(sum(delta), 0) FROM public.pgbench_history)`).Scan(&b.Accounts, &b.Tellers, &b.Branches, &b.History)
	})
	return b, err
}

// checkInvariants: each transaction adds one delta to everything it touches, and
// writes it down in pgbench_history; nothing empties that table after filling.
func checkInvariants(builtin string, b balances) v1alpha1.IntegrityCheck {
	c := v1alpha1.IntegrityCheck{Name: CheckInvariants, Result: Passed}
	equal := b.Accounts == b.History
	text := fmt.Sprintf("accounts %d, history %d", b.Accounts, b.History)
	if builtin == pgbench.TPCB {
		equal = equal && b.Tellers == b.History && b.Branches == b.History
		text = fmt.Sprintf("accounts %d, tellers %d, branches %d, history %d", b.Accounts, b.Tellers, b.Branches, b.History)
	}
	c.Message = "the sums agree: " + text
	if !equal {
		c.Result, c.Message = Failed, "the sums disagree: "+text
	}
	return c
}

// integrity runs all checks; only the end of ctx is an error.
func (r *execution) integrity(ctx context.Context, before *int64) ([]v1alpha1.IntegrityCheck, error) {
	timeout := r.tableTimeout()
	checks := []v1alpha1.IntegrityCheck{r.checksums(ctx, before), r.invariants(ctx, timeout)}
	r.progress(PhaseCheckingIntegrity, 0.3, "pg_amcheck of the benchmark's database")
	checks = append(checks, r.amcheck(ctx, timeout))
	return checks, ctx.Err()
}

func (r *execution) checksums(ctx context.Context, before *int64) v1alpha1.IntegrityCheck {
	after, err := r.db.checksumFailures(ctx)
	if err != nil {
		return v1alpha1.IntegrityCheck{Name: CheckChecksums, Result: NotRun, Message: err.Error()}
	}
	return checkChecksums(before, after)
}

func (r *execution) invariants(ctx context.Context, timeout time.Duration) v1alpha1.IntegrityCheck {
	c := v1alpha1.IntegrityCheck{Name: CheckInvariants, Result: NotRun}
	if r.Spec.Builtin() == "" {
		c.Message = "custom scripts have no invariant that is known here"
		return c
	}
	b, err := r.db.balances(ctx, timeout)
	if err != nil {
		c.Message = err.Error()
		return c
	}
	return checkInvariants(r.Spec.Builtin(), b)
}

func (r *execution) amcheck(ctx context.Context, timeout time.Duration) v1alpha1.IntegrityCheck {
	switch {
	case r.Spec.Pgbench.Integrity == v1alpha1.IntegrityBasic:
		return amcheck.NotRun("integrity is Basic")
	case r.notPrepared != "":
		return amcheck.NotRun(r.notPrepared)
	}
	// pg_amcheck takes a function that it may not call for damage.
	if err := r.db.mayCheck(ctx); err != nil {
		return amcheck.NotRun(err.Error())
	}
	return amcheck.Run(ctx, amcheck.Options{Bin: r.Bin, Dir: r.WorkDir, Database: r.db.config.Database, Timeout: timeout})
}

// mayCheck says why the functions that pg_amcheck calls cannot be called.
func (d *database) mayCheck(ctx context.Context) error {
	var functions, denied int
	err := session(ctx, d.config, queryTimeout, func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE NOT has_function_privilege(p.oid, 'EXECUTE')) FROM pg_depend AS d
			JOIN pg_extension AS e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
			JOIN pg_proc AS p ON p.oid = d.objid AND d.classid = 'pg_proc'::regclass
			WHERE e.extname = 'amcheck' AND p.proname IN ('verify_heapam', 'bt_index_check', 'gin_index_check')`).Scan(&functions, &denied)
	})
	switch {
	case err != nil:
		return fmt.Errorf("extension amcheck: %w", err)
	case functions == 0 || denied > 0:
		return fmt.Errorf("extension amcheck: the benchmark's role may call %d of its %d functions that check", functions-denied, functions)
	}
	return nil
}
