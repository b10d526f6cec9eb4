package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/pgstorage/pgstorage/internal/bench/runner/observer"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
	server "github.com/pgstorage/pgstorage/internal/testing/postgres"
)

// query is one value, read by the superuser.
func query[T any](t *testing.T, p *postgres, database, text string) (value T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), fmt.Sprintf("host=%s user=postgres dbname=%s", p.Dir, database))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if err := conn.QueryRow(t.Context(), text).Scan(&value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

func TestTablesThatDoNotFitAreRefused(t *testing.T) {
	p := sharedPostgres(t)
	name := p.database(t)
	s := parsed(t, `{"cluster": "shop", "durability": "Local", "pgbench": {"scale": 100, "transactions": 1}}`)
	s.Space = &spec.Space{DataBytes: 2 << 30}
	runner, rec := p.runner(t, s)
	_, err := runner.Run(t.Context())
	wantReason(t, err, rec, ReasonNotEnoughSpace)
	if m := rec.last().Message; !strings.HasPrefix(m, "spec.pgbench.scale: 100 may take ") || !strings.Contains(m, "lower it to at most ") {
		t.Error(m)
	}
	if n := query[int64](t, p, name, "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'pgbench%'"); n != 0 {
		t.Errorf("%d tables of pgbench exist", n)
	}
}

// What a session may see decides whether the WAL is read or assumed.
func TestUsedSpaceAsEachRoleSeesIt(t *testing.T) {
	p := sharedPostgres(t)
	name := p.database(t)
	p.sql(t, "postgres", "CREATE ROLE watcher LOGIN", "GRANT pg_monitor TO watcher")
	for role, tc := range map[string]struct {
		database string
		hidden   bool
	}{checkRole: {"postgres", false}, "watcher": {"postgres", false}, name: {name, true}} {
		conn, err := pgx.Connect(t.Context(), fmt.Sprintf("host=%s user=%s dbname=%s", p.Dir, role, tc.database))
		if err != nil {
			t.Fatal(err)
		}
		used, err := observer.ReadUsed(t.Context(), conn)
		if err != nil || used.Data < 20<<20 || used.WALHidden != tc.hidden || used.WAL < 16<<20 || used.WALLimit < 1<<30 {
			t.Errorf("%s: %+v %v", role, used, err)
		}
		_ = conn.Close(t.Context())
	}
}

// smallVolume is a file system of its own with a server on it, and its size in bytes.
func smallVolume(t *testing.T, size string) (*postgres, int64) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting a file system needs root")
	}
	dir := t.TempDir()
	// The user that runs Postgres looks for its folder.
	for d := dir; d != "/" && d != "."; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			break
		}
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0755,size="+size); err != nil {
		t.Skip("mount: ", err)
	}
	t.Cleanup(func() {
		// Processes of the server can end a little later than it does.
		var busy error
		err := wait.PollUntilContextTimeout(context.WithoutCancel(t.Context()), 200*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
			busy = syscall.Unmount(dir, 0)
			return busy == nil, nil
		})
		if err != nil {
			t.Error(err, busy)
		}
	})
	t.Setenv("TMPDIR", dir)
	s, err := server.Start(t.Context(), "max_wal_size=64MB", "min_wal_size=32MB", "max_connections=10")
	if err != nil {
		t.Fatal(err)
	}
	p := &postgres{*s}
	t.Cleanup(p.stop)
	p.sql(t, "postgres", "CREATE ROLE "+checkRole+" LOGIN SUPERUSER PASSWORD 'sesame'")
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		t.Fatal(err)
	}
	return p, int64(fs.Blocks) * fs.Bsize
}

// endless is one statement that writes until the volume is full, and does not notice that its
// client has gone. The settings of its role hinder a session that tries to stop it.
const endless = `ALTER ROLE CURRENT_USER SET statement_timeout = 1;
SET statement_timeout = 0;
CREATE TABLE grows AS SELECT repeat(md5(i::text), 30) AS filler FROM generate_series(1, 1000000000) i;
`

func TestBenchmarkStopsBeforeItsVolumeIsFull(t *testing.T) {
	for _, integrity := range []string{"Full", "Basic"} {
		t.Run(integrity, func(t *testing.T) {
			p, capacity := smallVolume(t, "512m")
			name := p.database(t)
			s := parsed(t, `{"cluster": "shop", "durability": "Local", "pgbench": {"scale": 1, "clients": [1], "duration": "10m",
				"integrity": "`+integrity+`", "customScripts": [{"configMap": "a", "key": "endless.sql"}]}}`)
			s.Space, s.ScriptsDir = &spec.Space{DataBytes: capacity}, t.TempDir()
			if err := os.WriteFile(filepath.Join(s.ScriptsDir, "endless.sql"), []byte(endless), 0o600); err != nil {
				t.Fatal(err)
			}
			runner, rec := p.runner(t, s)
			if integrity == "Basic" {
				runner.Observer = nil
			}
			began := time.Now()
			_, err := runner.Run(t.Context())
			wantReason(t, err, rec, ReasonFreeSpaceLow)
			if took := time.Since(began); took > 2*time.Minute {
				t.Errorf("took %s to stop", took)
			}
			if m := rec.last().Message; !strings.Contains(m, "must stay free") {
				t.Error(m)
			}
			log, err := os.ReadFile(filepath.Join(p.Dir, "log"))
			if err != nil || strings.Contains(string(log), "No space left") {
				t.Errorf("the volume was full: %v\n%s", err, log)
			}
			err = wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
				return query[int64](t, p, "postgres", "SELECT count(*) FROM pg_stat_activity WHERE usename = '"+name+"'") == 0, nil
			})
			if err != nil {
				t.Error("sessions of the benchmark go on:", err)
			}
			if size := query[int64](t, p, "postgres", "SELECT pg_database_size('"+name+"')"); size > 20<<20 {
				t.Errorf("%d bytes of the benchmark are left", size)
			}
			p.sql(t, "postgres", "CREATE TABLE still (writes int)")
		})
	}
}
