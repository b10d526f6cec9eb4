package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
)

const short = `{"cluster": "shop", "durability": "Local", "pgbench": {"scale": 1, "clients": [1], "transactions": 20}}`

// verifier is a benchmark that has run, up to its checks.
func verifier(t *testing.T, runner *Runner) (*execution, *int64) {
	t.Helper()
	if _, err := runner.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	db, err := openDatabase()
	if err != nil {
		t.Fatal(err)
	}
	before, err := db.checksumFailures(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &execution{Runner: runner, db: db, budget: newBudget(runner.Spec), publish: func(RunStatus) {}}, before
}

func TestLostUpdateIsFound(t *testing.T) {
	p := sharedPostgres(t)
	name := p.database(t)
	runner, _ := p.runner(t, parsed(t, short))
	r, before := verifier(t, runner)
	p.sql(t, name, "UPDATE pgbench_tellers SET tbalance = tbalance + 1 WHERE tid = 1")
	err := r.verify(t.Context(), before)
	var f *Failure
	if !errors.As(err, &f) || f.Reason != ReasonIntegrityFailed || !strings.Contains(err.Error(), "tellers") {
		t.Errorf("got %v", err)
	}
	want := map[string]string{CheckChecksums: Passed, CheckInvariants: Failed, CheckAmcheck: Passed}
	if diff := cmp.Diff(want, results(r.report.Integrity)); diff != "" {
		t.Error(diff)
	}
}

// A page that the storage changed behind the server's back.
func TestDamagedPageIsFound(t *testing.T) {
	p := startPostgres(t)
	defer p.stop()
	name := p.database(t)
	runner, _ := p.runner(t, parsed(t, short))
	r, before := verifier(t, runner)
	file := p.relation(t, name, "pgbench_accounts_pkey")
	p.must(t, "pg_ctl", "-D", p.Data, "-w", "stop")
	damage(t, file)
	if err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}

	err := r.verify(t.Context(), before)
	var f *Failure
	if !errors.As(err, &f) || f.Reason != ReasonIntegrityFailed {
		t.Errorf("got %v", err)
	}
	if got := results(r.report.Integrity)[CheckAmcheck]; got != Failed {
		t.Errorf("pg_amcheck: %s: %+v", got, r.report.Integrity)
	}
	// What pg_amcheck ran into is counted by now.
	if got := r.checksums(t.Context(), before); got.Result != Failed {
		t.Errorf("%+v", got)
	}
}

func (p *postgres) relation(t *testing.T, database, name string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), fmt.Sprintf("host=%s user=postgres dbname=%s", p.Dir, database))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	var path string
	if err := conn.QueryRow(t.Context(), "SELECT pg_relation_filepath($1::regclass)", name).Scan(&path); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(p.Data, path)
}

// damage the second page, behind its header.
func damage(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("not what was written"), 8192+4000); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCheckChecksums(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	for _, tc := range []struct {
		before, after *int64
		want          string
	}{
		{nil, nil, NotRun}, {n(0), nil, NotRun}, {n(0), n(0), Passed}, {n(0), n(1), Failed}, {n(2), n(2), Failed},
	} {
		if got := checkChecksums(tc.before, tc.after); got.Result != tc.want {
			t.Errorf("%+v", got)
		}
	}
}

func TestCheckInvariants(t *testing.T) {
	for _, tc := range []struct {
		builtin string
		sums    balances
		want    string
	}{
		{pgbench.TPCB, balances{5, 5, 5, 5}, Passed},
		{pgbench.TPCB, balances{5, 5, 4, 5}, Failed},
		{pgbench.TPCB, balances{5, 5, 5, 0}, Failed},
		{pgbench.SimpleUpdate, balances{5, 0, 0, 5}, Passed},
		{pgbench.SimpleUpdate, balances{5, 0, 0, 4}, Failed},
		{pgbench.SelectOnly, balances{}, Passed},
	} {
		if got := checkInvariants(tc.builtin, tc.sums); got.Result != tc.want {
			t.Errorf("%+v: %+v", tc, got)
		}
	}
}
