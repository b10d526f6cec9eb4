package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/runner/observer"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
	server "github.com/pgstorage/pgstorage/internal/testing/postgres"
)

const checkRole = "pgstorage_check"

// postgres is a throwaway server.
type postgres struct{ server.Server }

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

// startPostgres with a superuser for the checks.
func startPostgres(t *testing.T) *postgres {
	t.Helper()
	s, err := server.Start(t.Context())
	if errors.Is(err, server.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := &postgres{*s}
	p.sql(t, "postgres", "CREATE ROLE "+checkRole+" LOGIN SUPERUSER PASSWORD 'sesame'")
	return p
}

// stop at the end of a test, which has said by then what it found.
func (p *postgres) stop() { _ = p.Stop() }

func (p *postgres) must(t *testing.T, name string, args ...string) {
	t.Helper()
	if err := p.Run(t.Context(), name, args...); err != nil {
		t.Fatal(err)
	}
}

func (p *postgres) sql(t *testing.T, database string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), fmt.Sprintf("host=%s user=postgres dbname=%s", p.Dir, database))
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
	t.Setenv("PGHOST", p.Dir)
	t.Setenv("PGPORT", "5432")
	t.Setenv("PGUSER", name)
	t.Setenv("PGDATABASE", name)
	t.Setenv("PGPASSWORD", "open")
	return name
}

// observed by a superuser in another process' place, at a socket, as in the runner's pod.
func (p *postgres) observed(t *testing.T) *observer.Client {
	t.Helper()
	name := os.Getenv("PGDATABASE")
	o := &observer.Observer{Config: superuserOf(t, os.Getenv("PGHOST")), Database: name, Role: name}
	if source := os.Getenv(spec.EnvSourceHost); source != "" {
		o.Source = superuserOf(t, source)
	}
	note, err := o.Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ready observer.Ready
	if note != nil {
		ready.NotPrepared = note.Error()
	}
	dir, err := os.MkdirTemp("", "obs") //nolint:usetesting // a socket's path has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	served, socket := make(chan error, 1), filepath.Join(dir, "socket")
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	go func() { served <- o.Serve(ctx, socket, ready, slog.New(slog.NewTextHandler(t.Output(), nil))) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-served, os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
	})
	client := observer.NewClient(socket)
	err = wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := client.Ready(ctx)
		return err == nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func superuserOf(t *testing.T, host string) *pgx.ConnConfig {
	t.Helper()
	config, err := pgx.ParseConfig(fmt.Sprintf("host=%s user=%s password=sesame dbname=postgres", host, checkRole))
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// runner of a test; it keeps what it reports.
func (p *postgres) runner(t *testing.T, s spec.Spec) (*Runner, *recorder) {
	t.Helper()
	rec := &recorder{}
	r := newRunner(t, s, rec, p.Bin)
	if p.Dir != "" && s.Pgbench.Integrity != v1alpha1.IntegrityBasic {
		r.Observer = p.observed(t)
	}
	return r, rec
}

func newRunner(t *testing.T, s spec.Spec, rec *recorder, bin string) *Runner {
	return &Runner{
		Spec: s, Reporter: rec, Attempt: "pod-1", Bin: bin, WorkDir: t.TempDir(), Processors: 2,
		Clock: clock.RealClock{}, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Connecting: wait.Backoff{Duration: 10 * time.Millisecond, Steps: 1},
	}
}
