package runner

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
	server "github.com/pgstorage/pgstorage/internal/testing/postgres"
)

// followed is a server with another one that follows it.
type followed struct {
	*postgres
	follower *postgres
	database string
}

// startFollowed starts both, with the environment that the runner of the follower finds.
func startFollowed(t *testing.T) followed {
	t.Helper()
	p := startPostgres(t)
	t.Cleanup(p.stop)
	data := filepath.Join(p.Dir, "follower")
	f := &postgres{server.Server{Bin: p.Bin, Dir: data, Data: data}}
	p.must(t, "pg_basebackup", "-R", "-D", data, "-c", "fast", "-d", "host="+p.Dir+" user=postgres")
	f.must(t, "pg_ctl", "-D", data, "-w", "-l", filepath.Join(p.Dir, "log2"), "-o", "-c listen_addresses= -c unix_socket_directories="+data, "start")
	t.Cleanup(func() { _ = f.Down(context.Background()) })
	name := p.database(t)
	f.await(t, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = '"+name+"')")
	t.Setenv("PGHOST", data)
	t.Setenv(spec.EnvSourceHost, p.Dir)
	return followed{p, f, name}
}

const followerSpec = `{"cluster": "shop-cache", "durability": "ReadOnly", "source": {"cluster": "shop"},
	"pgbench": {"scale": 1, "script": "SelectOnly", "clients": [1, 2], "transactions": 200, "warmUp": "1s"}}`

// The tables are filled on the cluster that is followed, and everything is measured and
// checked on the follower.
func TestFollowerIsMeasured(t *testing.T) {
	p := startFollowed(t)
	s := parsed(t, followerSpec)
	s.Space, s.Source.Space = &spec.Space{DataBytes: 100 << 30}, &spec.Space{DataBytes: 100 << 30}
	runner, rec := p.runner(t, s)
	outcome, err := runner.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{CheckChecksums: Passed, CheckInvariants: Passed, CheckAmcheck: Passed}
	if diff := cmp.Diff(want, results(outcome.Report.Integrity)); diff != "" {
		t.Errorf("%s\n%+v", diff, outcome.Report.Integrity)
	}
	if got := rec.last(); got.Durability != v1alpha1.DurabilityReadOnly || len(got.Results) != 2 || got.Results[1].Transactions != 400 {
		t.Errorf("%+v", got)
	}
	for _, run := range outcome.Runs {
		if !run.Before.Follows || !run.After.Follows || run.facts.Workload.Writes || run.facts.Dataset == nil {
			t.Errorf("%+v, facts %+v", run.After, run.facts)
		}
	}
	const scans = "SELECT coalesce(sum(idx_scan), 0)::bigint FROM pg_stat_user_tables WHERE relname = 'pgbench_accounts'"
	if there, here := query[int64](t, p.postgres, p.database, scans), query[int64](t, p.follower, p.database, scans); there >= 600 || here < 600 {
		t.Errorf("%d scans on the cluster that is followed, %d on the follower", there, here)
	}
}

// Without a superuser, free space of both is watched by the role that owns the database.
func TestFollowerIsMeasuredWithoutObserver(t *testing.T) {
	p := startFollowed(t)
	s := parsed(t, followerSpec)
	s.Pgbench.Integrity = v1alpha1.IntegrityBasic
	s.Space, s.Source.Space = &spec.Space{DataBytes: 100 << 30}, &spec.Space{DataBytes: 100 << 30}
	runner, _ := p.runner(t, s)
	if _, err := runner.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	runner.Spec.Source.Space.DataBytes = 200 << 20
	_, err := runner.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "(PgStorageCluster shop, which is followed)") {
		t.Errorf("got %v", err)
	}
}

func TestMeasuringWaitsForTheReplay(t *testing.T) {
	p := startFollowed(t)
	p.follower.sql(t, "postgres", "SELECT pg_wal_replay_pause()")
	p.follower.await(t, "SELECT pg_get_wal_replay_pause_state() = 'paused'")
	runner, rec := p.runner(t, parsed(t, followerSpec))
	waited := false
	rec.seen = func(r RunStatus) {
		if waited || !strings.HasPrefix(r.Message, "waits for the follower to replay ") {
			return
		}
		waited = true
		p.follower.sql(t, "postgres", "SELECT pg_wal_replay_resume()")
	}
	if _, err := runner.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !waited {
		t.Error("the runner did not wait")
	}
}

// A server that takes writes has no figures of a follower.
func TestServerThatTakesWritesIsNoFollower(t *testing.T) {
	p := startFollowed(t)
	t.Setenv("PGHOST", p.Dir)
	runner, rec := p.runner(t, parsed(t, followerSpec))
	_, err := runner.Run(t.Context())
	wantReason(t, err, rec, ReasonDurabilityMismatch)
}

func TestFollowerNeedsTheHostOfItsSource(t *testing.T) {
	p := sharedPostgres(t)
	p.database(t)
	runner, _ := p.runner(t, parsed(t, followerSpec))
	if _, err := runner.Run(t.Context()); err == nil || !strings.Contains(err.Error(), spec.EnvSourceHost) {
		t.Errorf("got %v", err)
	}
}
