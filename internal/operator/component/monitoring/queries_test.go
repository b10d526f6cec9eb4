//go:build linux

package monitoring

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	server "github.com/pgstorage/pgstorage/internal/testing/postgres"
)

// query as CloudNativePG reads it (its pkg/management/postgres/metrics/parser.go).
type query struct {
	Query   string                         `json:"query"`
	Metrics []map[string]map[string]string `json:"metrics"`
}

// The queries run as a role without superuser rights, in a read-only transaction. They
// report settings that users changed without the operator.
func TestQueriesOnARealServer(t *testing.T) {
	s, err := server.Start(t.Context(), "fsync=off")
	if errors.Is(err, server.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	}()
	psql := func(user, sql string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), s.Bin+"/psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-h", s.Dir, "-U", user, "-d", "app", "-c", sql)
		// As the sessions of CloudNativePG begin.
		c.Env = append(os.Environ(), "PGOPTIONS=-c synchronous_commit=local")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", sql, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if out, err := exec.CommandContext(t.Context(), s.Bin+"/createdb", "-h", s.Dir, "-U", "postgres", "app").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	psql("postgres", "CREATE ROLE cnpg_metrics_exporter LOGIN; GRANT pg_monitor TO cnpg_metrics_exporter; CREATE ROLE app LOGIN")
	queries := map[string]query{}
	if err := yaml.Unmarshal([]byte(QueriesText()), &queries); err != nil {
		t.Fatal(err)
	}
	report := func(name string) []string {
		t.Helper()
		out := psql("cnpg_metrics_exporter", "BEGIN READ ONLY; SET LOCAL search_path = pg_catalog, public, pg_temp; "+strings.TrimSpace(queries[name].Query)+"; COMMIT")
		return strings.Split(out, "\n")
	}

	settings := report("pgstorage_setting")
	if want := len(postgres.FoundationNames()) - 1; len(settings) != want || strings.Contains(strings.Join(settings, "\n"), "synchronous_commit") {
		t.Errorf("%d settings, want %d without the session's own: %q", len(settings), want, settings)
	}
	for _, want := range []string{"fsync|off|1", "data_checksums|on|1", "wal_level|replica|1"} {
		if !strings.Contains(strings.Join(settings, "\n"), want) {
			t.Errorf("no %s among %q", want, settings)
		}
	}
	if got := strings.Join(report("pgstorage_override"), "\n"); got != "||||0" {
		t.Errorf("overrides of nobody: %q", got)
	}
	psql("postgres", "ALTER ROLE app SET synchronous_commit = off; ALTER ROLE app SET work_mem = '64MB'; ALTER DATABASE app SET synchronous_commit = 'remote_write'; ALTER ROLE app IN DATABASE app SET zero_damaged_pages = on")
	if got, want := strings.Join(report("pgstorage_override"), "\n"), "||||3\n|app|synchronous_commit|off|1\napp||synchronous_commit|remote_write|1\napp|app|zero_damaged_pages|on|1"; got != want {
		t.Errorf("overrides\n%s\nwant\n%s", got, want)
	}
	// A database's setting does not reach a session that brings its own.
	if got := strings.Join(report("pgstorage_setting"), "\n"); strings.Contains(got, "synchronous_commit") {
		t.Errorf("settings %s", got)
	}
	if got := strings.Join(report("pgstorage_follower"), "\n"); got != "|0" {
		t.Errorf("followers of nobody: %q", got)
	}
	if got := strings.Join(report("pgstorage_receiver"), "\n"); got != "0|0|0|0|0" {
		t.Errorf("a primary receives WAL: %q", got)
	}
	if got := strings.Join(report("pgstorage_synchronous"), "\n"); got != "0" {
		t.Errorf("synchronous standbys of nobody: %q", got)
	}
	if got := strings.Join(report("pgstorage_commit"), "\n"); got != "0|0" {
		t.Errorf("commits that wait: %q", got)
	}
	if got, want := strings.Join(report("pgstorage_xmin"), "\n"), "transaction|0\nprepared transaction|0\nreplication slot|0\nstandby|0"; got != want {
		t.Errorf("holders of dead rows: %q", got)
	}
	keeps(t, psql, report)
	waits(t, s, psql, report)
	for name, q := range queries {
		if len(q.Metrics) == 0 {
			t.Errorf("%s reports nothing", name)
		}
	}
}

// keeps compares the position from which on WAL is kept with the server's files, before and after
// it removed some.
func keeps(t *testing.T, psql func(user, sql string) string, report func(name string) []string) {
	t.Helper()
	last := int64(0)
	for range 2 {
		name := psql("postgres", "SELECT min(name) FROM pg_ls_waldir() WHERE length(name) = 24")
		if len(name) != 24 {
			t.Fatalf("the first file of WAL is %q", name)
		}
		high, err := strconv.ParseInt(name[8:16], 16, 64)
		low, lowErr := strconv.ParseInt(name[16:], 16, 64)
		if err != nil || lowErr != nil {
			t.Fatal(err, lowErr)
		}
		want := high<<32 + low*(16<<20)
		if got := strings.Join(report("pgstorage_wal"), "\n"); got != strconv.FormatInt(want, 10) || want <= last {
			t.Errorf("WAL is kept from %s on, want %d, the name being %s; before it was %d", got, want, name, last)
		}
		last = want
		for range 3 {
			psql("postgres", "SELECT pg_logical_emit_message(false, 'test', 'x'); SELECT pg_switch_wal()")
		}
		psql("postgres", "CHECKPOINT")
	}
}

// waits commits on a server without a standby that could confirm it, and reports the
// session.
func waits(t *testing.T, s *server.Server, psql func(user, sql string) string, report func(name string) []string) {
	t.Helper()
	psql("postgres", "CREATE TABLE t ()")
	psql("postgres", "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (absent)'")
	psql("postgres", "SELECT pg_reload_conf()")
	commit := exec.CommandContext(t.Context(), s.Bin+"/psql", "-X", "-h", s.Dir, "-U", "postgres", "-d", "app", "-c", "INSERT INTO t DEFAULT VALUES")
	if err := commit.Start(); err != nil {
		t.Fatal(err)
	}
	for got := ""; !strings.HasPrefix(got, "1|"); {
		if t.Context().Err() != nil {
			t.Fatalf("no commit waits: %q", got)
		}
		got = strings.Join(report("pgstorage_commit"), "\n")
	}
	psql("postgres", "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
	if err := commit.Wait(); err != nil {
		t.Error(err)
	}
}
