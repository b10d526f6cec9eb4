package runner

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/program"
)

// fake programs in a folder, as shell scripts.
func fake(t *testing.T, programs map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, body := range programs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// pg_amcheck runs as the role that owns the database, as pgbench does, and its password
// is in no argument.
func TestSecretsStayOutOfArguments(t *testing.T) {
	p := sharedPostgres(t)
	name := p.database(t)
	runner, _ := p.runner(t, parsed(t, short))
	db, err := openDatabase()
	if err != nil {
		t.Fatal(err)
	}
	runner.Bin = fake(t, map[string]string{"pgbench": `echo "$@"; env`, "pg_amcheck": `echo "$@" "|" $PGUSER $PGPASSWORD $PGOPTIONS; exit 2`})
	out, err := program.Command{Path: program.In(runner.Bin, "pgbench"), Args: []string{"--initialize"}, Env: program.Environment()}.Run(t.Context())
	if err != nil || !strings.Contains(out, "PGPASSWORD=open") || !strings.Contains(out, "LC_ALL=C") {
		t.Errorf("%v\n%s", err, out)
	}
	r := &execution{Runner: runner, db: db}
	said := r.amcheck(t.Context(), time.Minute).Message
	args, env, _ := strings.Cut(said, "|")
	if strings.Contains(args, "open") || strings.Contains(args, "install") || !strings.Contains(args, name) || !strings.HasPrefix(env, " "+name+" open -c search_path= ") {
		t.Errorf("%s", said)
	}
}

func TestAmcheckSaysWhyItWasNotRun(t *testing.T) {
	r := &execution{Runner: &Runner{}}
	if err := r.awaitObserver(t.Context()); err != nil {
		t.Error(err)
	}
	if got := r.amcheck(t.Context(), time.Minute); got.Result != NotRun || !strings.Contains(got.Message, "no superuser observes") {
		t.Errorf("%+v", got)
	}
	r.Spec.Pgbench.Integrity = v1alpha1.IntegrityBasic
	if got := r.amcheck(t.Context(), time.Minute); got.Result != NotRun || !strings.Contains(got.Message, "Basic") {
		t.Errorf("%+v", got)
	}
}

// fakePgbench ends without a successful transaction, and with failed ones as given.
func fakePgbench(t *testing.T, failed int) *execution {
	t.Helper()
	bin := fake(t, map[string]string{"pgbench": fmt.Sprintf(`echo "transaction type: x"; echo "meteorites: 3"; echo "number of failed transactions: %d (100%%)"`, failed)})
	s := parsed(t, `{"cluster": "shop", "durability": "Local", "pgbench": {"scale": 1, "clients": [1], "warmUp": "1s", "duration": "1s"}}`)
	r := &execution{Runner: &Runner{Bin: bin, Log: slog.New(slog.DiscardHandler), Spec: s}}
	if err := r.stageScripts(); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRunWithoutAnyTransactionFails(t *testing.T) {
	r := fakePgbench(t, 7)
	o, err := r.options(1)
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.pgbench(t.Context(), o, PhaseRunning, "run")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.noneSucceeded(); err == nil || !strings.Contains(err.Error(), "7 failed") {
		t.Errorf("got %v, want an error with the number of failed transactions", err)
	}
}

// A warm-up that ends before its clients have connected has no transactions at all.
func TestWarmUpFailsOnlyIfTransactionsDid(t *testing.T) {
	if err := fakePgbench(t, 0).warmUp(t.Context()); err != nil {
		t.Errorf("no transaction failed: got %v, want no error", err)
	}
	if err := fakePgbench(t, 7).warmUp(t.Context()); err == nil || !strings.Contains(err.Error(), "7 failed") {
		t.Errorf("7 failed: got %v, want an error that counts them", err)
	}
}
