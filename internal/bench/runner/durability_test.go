package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	server "github.com/pgstorage/pgstorage/internal/testing/postgres"
)

func TestMeets(t *testing.T) {
	const quorum, local, async, ephemeral = v1alpha1.DurabilityQuorum, v1alpha1.DurabilityLocal, v1alpha1.DurabilityAsync, v1alpha1.DurabilityEphemeral
	sound := Durability{Fsync: "on", SynchronousCommit: "on", SynchronousStandbyNames: "ANY 1 (a)", Standbys: []string{"async", "quorum"}}
	with := func(change func(*Durability)) Durability {
		d := sound
		change(&d)
		return d
	}
	for _, tc := range []struct {
		name string
		tier v1alpha1.DurabilityTier
		d    Durability
		ok   bool
	}{
		{"sound", quorum, sound, true},
		{"remote_apply", quorum, with(func(d *Durability) { d.SynchronousCommit = "remote_apply" }), true},
		{"sync standby", quorum, with(func(d *Durability) { d.Standbys = []string{"sync"} }), true},
		{"hidden standbys", quorum, with(func(d *Durability) { d.Standbys = []string{"", ""} }), true},
		{"potential only", quorum, with(func(d *Durability) { d.Standbys = []string{"potential", "async"} }), false},
		{"no standby", quorum, with(func(d *Durability) { d.Standbys = nil }), false},
		{"no names", quorum, with(func(d *Durability) { d.SynchronousStandbyNames = " " }), false},
		{"remote_write", quorum, with(func(d *Durability) { d.SynchronousCommit = "remote_write" }), false},
		{"alone", local, Durability{Fsync: "on", SynchronousCommit: "on"}, true},
		{"off", local, Durability{Fsync: "on", SynchronousCommit: "off"}, false},
		{"off", async, Durability{Fsync: "on", SynchronousCommit: "off"}, true},
		{"fsync off", async, Durability{Fsync: "off", SynchronousCommit: "off"}, false},
		{"fsync off", ephemeral, Durability{Fsync: "off", SynchronousCommit: "off"}, true},
		{"safer values", ephemeral, Durability{Fsync: "on", SynchronousCommit: "on"}, true},
		{"follower", v1alpha1.DurabilityReadOnly, Durability{Fsync: "off", SynchronousCommit: "off", Follows: true}, true},
		{"takes writes", v1alpha1.DurabilityReadOnly, sound, false},
		{"fsync off", local, Durability{Fsync: "off", SynchronousCommit: "on"}, false},
	} {
		err := tc.d.meets(tc.tier)
		var f *Failure
		if (err == nil) != tc.ok || (err != nil && (!errors.As(err, &f) || f.Reason != ReasonDurabilityMismatch)) {
			t.Errorf("%s at %s: %v", tc.name, tc.tier, err)
		}
	}
}

// A primary with a standby that it waits for, as the tier Quorum has it.
func TestQuorumIsProvedOnRealStandby(t *testing.T) {
	p := startPostgres(t)
	defer p.stop()
	standby := &postgres{server.Server{Bin: p.Bin, Dir: p.Dir, Data: filepath.Join(p.Dir, "standby")}}
	p.must(t, "pg_basebackup", "-R", "-D", standby.Data, "-c", "fast", "-d", "host="+p.Dir+" user=postgres application_name=second")
	p.sql(t, "postgres", "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (second)'", "SELECT pg_reload_conf()")
	standby.must(t, "pg_ctl", "-D", standby.Data, "-w", "-l", filepath.Join(p.Dir, "log2"), "-o",
		"-c listen_addresses= -c port=5433 -c unix_socket_directories="+p.Dir, "start")
	defer func() { standby.must(t, "pg_ctl", "-D", standby.Data, "-m", "immediate", "stop") }()
	p.await(t, "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'quorum')")

	p.database(t)
	runner, _ := p.runner(t, parsed(t, `{"cluster": "shop", "durability": "Quorum", "pgbench": {"scale": 1, "clients": [2], "transactions": 20}}`))
	outcome, err := runner.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := outcome.Runs[0].After; got.SynchronousStandbyNames != "ANY 1 (second)" || len(got.Standbys) != 1 || got.Standbys[0] != "quorum" {
		t.Errorf("%+v", got)
	}
	if outcome.Report.SynchronousStandbyNames == "" {
		t.Error("the report does not name the standbys")
	}
	// Without an observer the states are hidden and the names must do.
	runner.Observer = nil
	if _, err := runner.Run(t.Context()); err != nil {
		t.Error(err)
	}
}

// await until a query answers true.
func (p *postgres) await(t *testing.T, query string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), fmt.Sprintf("host=%s user=postgres dbname=postgres", p.Dir))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	err = wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (done bool, err error) {
		err = conn.QueryRow(ctx, query).Scan(&done)
		return done, err
	})
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(p.Dir, "log2"))
		t.Fatalf("%s: %v\n%s", query, err, log)
	}
}
