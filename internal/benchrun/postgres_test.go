package benchrun

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"github.com/pgstorage/pgstorage/internal/benchrun/spec"
)

// envBin names the folder of the PostgreSQL programs that the tests use; without
// it, the newest one that Debian's packages installed.
const envBin = "PGSTORAGE_TEST_POSTGRES_BIN"

const checkRole = "pgstorage_check"

// postgres is a throwaway server.
type postgres struct{ bin, dir, data string }

// shared is the server of the tests that leave it as it was.
var shared *postgres

func TestMain(m *testing.M) {
	code := m.Run()
	if shared != nil {
		shared.stop()
	}
	os.Exit(code)
}

func sharedPostgres(t *testing.T) *postgres {
	t.Helper()
	if shared == nil {
		shared = startPostgres(t)
	}
	return shared
}

func postgresBin(t *testing.T) string {
	t.Helper()
	if bin := os.Getenv(envBin); bin != "" {
		return bin
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(found) == 0 {
		t.Skip("no PostgreSQL server here: install the package postgresql, or set " + envBin)
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1])
}

// startPostgres with checksums, on a Unix socket in a folder whose name is short
// enough for one.
func startPostgres(t *testing.T) *postgres {
	t.Helper()
	bin := postgresBin(t)
	dir, err := os.MkdirTemp("", "pg") //nolint:usetesting // t.TempDir is too long for a socket, and ends with the test
	if err != nil {
		t.Fatal(err)
	}
	p := &postgres{bin: bin, dir: dir, data: filepath.Join(dir, "data")}
	if uid, gid, ok := unprivileged(); ok {
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	// The runner connects as another user of the system than the server's.
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p.must(t, "initdb", "-D", p.data, "-U", "postgres", "-A", "trust", "--data-checksums", "--no-sync")
	p.start(t)
	p.sql(t, "postgres", "CREATE ROLE "+checkRole+" LOGIN SUPERUSER PASSWORD 'sesame'")
	return p
}

func (p *postgres) start(t *testing.T) {
	t.Helper()
	p.must(t, "pg_ctl", "-D", p.data, "-w", "-l", filepath.Join(p.dir, "log"), "-o",
		"-c listen_addresses= -c unix_socket_directories="+p.dir, "start")
}

func (p *postgres) stop() {
	_, _ = p.command("pg_ctl", "-D", p.data, "-m", "immediate", "stop").CombinedOutput()
	_ = os.RemoveAll(p.dir)
}

func (p *postgres) must(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := p.command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// command of the server, as somebody else than root, whom Postgres refuses.
func (p *postgres) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.bin, name), args...)
	cmd.Dir, cmd.Env = p.dir, []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH")}
	if uid, gid, ok := unprivileged(); ok {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	return cmd
}

func unprivileged() (uid, gid int, ok bool) {
	if os.Geteuid() != 0 {
		return 0, 0, false
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.Atoi(u.Uid)
		gid, errGID := strconv.Atoi(u.Gid)
		if errUID == nil && errGID == nil {
			return uid, gid, true
		}
	}
	return 0, 0, false
}

func (p *postgres) sql(t *testing.T, database string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), fmt.Sprintf("host=%s user=postgres dbname=%s", p.dir, database))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for _, s := range statements {
		if _, err := conn.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// database of a test, owned by a role of the same name, with the environment that
// the runner finds in its pod.
func (p *postgres) database(t *testing.T) string {
	t.Helper()
	name := DatabasePrefix + "_" + strings.ToLower(strings.NewReplacer("/", "_", "-", "_").Replace(t.Name()))
	name = name[:min(60, len(name))]
	p.sql(t, "postgres", "CREATE ROLE "+name+" LOGIN", "CREATE DATABASE "+name+" OWNER "+name)
	t.Setenv("PGHOST", p.dir)
	t.Setenv("PGPORT", "5432")
	t.Setenv("PGUSER", name)
	t.Setenv("PGDATABASE", name)
	t.Setenv("PGPASSWORD", "open")
	return name
}

// runner of a test; it keeps what it reports.
func (p *postgres) runner(t *testing.T, s spec.Spec) (*Runner, *recorder) {
	t.Helper()
	rec := &recorder{}
	return &Runner{
		Spec: s, Reporter: rec, Attempt: "pod-1", Bin: p.bin, WorkDir: t.TempDir(),
		CheckUser: checkRole, CheckPassword: "sesame", Processors: 2,
		Clock: clock.RealClock{}, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Connecting: wait.Backoff{Duration: 10 * time.Millisecond, Steps: 1},
	}, rec
}
