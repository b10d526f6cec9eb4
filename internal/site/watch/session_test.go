package watch

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/pgstorage/pgstorage/internal/site/report"
)

func answered(t *testing.T, s *asker) report.Member {
	t.Helper()
	m, err := s.ask(t.Context())
	if err != nil || !m.Answered {
		t.Fatalf("got %+v %v", m, err)
	}
	return m
}

// facts of an answer, without those that time changes.
func facts(m report.Member) report.Member {
	m.Asked, m.ClockSkewMilliseconds = 0, 0
	return m
}

func (s *site) writes(t *testing.T) report.Member {
	t.Helper()
	return report.Member{
		Name: "south", Answered: true, Timeline: 1, Primary: "north", Epoch: 2, Topology: "5f2c9a17",
		System: s.value(t, "SELECT system_identifier::text FROM pg_control_system()"),
	}
}

func TestAPrimaryAnswers(t *testing.T) {
	s := started(t)
	before := time.Now().Unix()
	got := answered(t, s.trusted(t))
	if facts(got) != s.writes(t) {
		t.Errorf("got %+v", got)
	}
	if got.Asked < before || got.Asked > time.Now().Unix() || max(got.ClockSkewMilliseconds, -got.ClockSkewMilliseconds) > patience.Milliseconds() {
		t.Errorf("got %+v", got)
	}
}

// What a site that follows reports changes with its promotion at once: the new timeline is
// in its control file only after a checkpoint.
func TestAStandbyAnswersInRecovery(t *testing.T) {
	s := started(t)
	follower := s.standby(t)
	asking := follower.trusted(t)
	want := s.writes(t)
	want.InRecovery = true
	if got := answered(t, asking); facts(got) != want {
		t.Errorf("got %+v", got)
	}
	follower.execute(t, "SELECT pg_promote()")
	want.InRecovery, want.Timeline = false, 2
	if got := answered(t, asking); facts(got) != want {
		t.Errorf("after the promotion: got %+v", got)
	}
}

// Settings of the role, as a hostile owner of a schema might like them.
func TestASearchPathChangesNothing(t *testing.T) {
	s := started(t)
	s.execute(t, "CREATE SCHEMA evil", "GRANT USAGE ON SCHEMA evil TO PUBLIC",
		"CREATE FUNCTION evil.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT true'",
		"CREATE FUNCTION evil.pg_control_system(OUT system_identifier bigint) LANGUAGE sql AS 'SELECT 666::bigint'",
		"CREATE FUNCTION evil.pg_walfile_name(pg_lsn) RETURNS text LANGUAGE sql AS $$SELECT '0000029A0000000000000001'$$",
		"CREATE FUNCTION evil.current_setting(text, boolean) RETURNS text LANGUAGE sql AS $$SELECT 'evil'$$",
		"CREATE FUNCTION evil.date_part(text, timestamptz) RETURNS float8 LANGUAGE sql AS 'SELECT 0::float8'",
		"CREATE FUNCTION evil.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$SELECT '2001-01-01'::timestamptz$$",
		"ALTER ROLE streaming_replica SET search_path = evil, pg_catalog", "ALTER ROLE streaming_replica SET statement_timeout = '1ms'")
	t.Cleanup(func() { s.execute(t, "ALTER ROLE streaming_replica RESET ALL", "DROP SCHEMA evil CASCADE") })
	got := answered(t, s.trusted(t))
	if facts(got) != s.writes(t) || max(got.ClockSkewMilliseconds, -got.ClockSkewMilliseconds) > patience.Milliseconds() {
		t.Errorf("got %+v", got)
	}
}

func TestASessionOnlyReads(t *testing.T) {
	s := started(t)
	conn, err := s.trusted(t).connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer end(t.Context(), conn)
	var settings string
	err = conn.QueryRow(t.Context(), `SELECT pg_catalog.concat_ws(' ', current_user, pg_catalog.current_setting('transaction_read_only'),
		pg_catalog.current_setting('statement_timeout'), pg_catalog.current_setting('application_name'))`).Scan(&settings)
	if want := "streaming_replica on 4s pgstorage-watch"; err != nil || settings != want {
		t.Errorf("got %q %v, want %q", settings, err, want)
	}
}

func TestTheSkewIsThatOfTheSitesClock(t *testing.T) {
	s := started(t)
	for name, c := range map[string]struct {
		local time.Duration
		want  int64
	}{
		"the watcher's clock is an hour behind": {-time.Hour, time.Hour.Milliseconds()},
		"the watcher's clock is an hour ahead":  {time.Hour, -time.Hour.Milliseconds()},
	} {
		asking := s.trusted(t)
		local := time.Now().Add(c.local)
		asking.clock = clocktesting.NewFakePassiveClock(local)
		got := answered(t, asking)
		off := got.ClockSkewMilliseconds - c.want
		if off < 0 || off > patience.Milliseconds() || got.Asked != local.Unix() {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// rejected says that a server did not accept a client's certificate. In TLS 1.3 it judges that
// after the client's handshake. The client writes on, and the end of the connection can outrun
// the alert.
func rejected(p report.Problem) bool { return p == report.TLSFailed || p == report.Refused }

func TestProblemsOfRealServers(t *testing.T) {
	s := started(t)
	client, authority := s.authority.client(t), s.authority.pem()
	shop := s.authority.issue(t, "shop", s.authority.certificate.NotAfter)
	other := newAuthority(t)
	elsewhere := s.south()
	elsewhere.Host = "127.0.0.1" // the certificate of the server is for localhost
	silent := Member{Name: "south", Host: "localhost", Port: freePort(t)}
	unknown := Member{Name: "south", Host: "south.invalid", Port: 5432}
	for name, c := range map[string]struct {
		member Member
		folder string
		want   report.Problem
	}{
		"another authority of the server":     {s.south(), mounted(t, client, other.pem()), report.TLSFailed},
		"another host than the certificate's": {elsewhere, mounted(t, client, authority), report.TLSFailed},
		"another authority of the client":     {s.south(), mounted(t, other.client(t), authority), report.TLSFailed},
		"a client that was revoked":           {s.south(), mounted(t, s.revoked, authority), report.TLSFailed},
		"a client that has expired":           {s.south(), mounted(t, s.authority.issue(t, user, time.Now().Add(-time.Hour)), authority), report.TLSFailed},
		"a client of another name":            {s.south(), mounted(t, shop, authority), report.AuthenticationFailed},
		"no folder":                           {s.south(), t.TempDir(), report.NoCertificate},
		"no certificate of the client":        {s.south(), mounted(t, issued{key: client.key}, authority), report.NoCertificate},
		"no key":                              {s.south(), mounted(t, issued{certificate: client.certificate}, authority), report.NoCertificate},
		"the key of another certificate":      {s.south(), mounted(t, issued{client.certificate, other.client(t).key, nil}, authority), report.NoCertificate},
		"no authority":                        {s.south(), mounted(t, client, nil), report.NoCertificate},
		"text as authority":                   {s.south(), mounted(t, client, []byte("later")), report.NoCertificate},
		"a file without end":                  {s.south(), mounted(t, client, make([]byte, maxFile+1)), report.NoCertificate},
		"nothing listens":                     {silent, mounted(t, client, authority), report.Refused},
		"a host without address":              {unknown, mounted(t, client, authority), report.NoRoute},
	} {
		got, err := opened(t, c.member, c.folder).ask(t.Context())
		if c.want == report.TLSFailed && strings.Contains(name, "client") && rejected(got.Problem) {
			continue
		}
		if want := (report.Member{Name: "south", Asked: got.Asked, Problem: c.want}); err == nil || got != want || got.Validate() != nil {
			t.Errorf("%s: got %+v %v", name, got, err)
		}
	}
}

func TestAServerThatReturnsAnswersAgain(t *testing.T) {
	s := started(t)
	asking := s.trusted(t)
	answered(t, asking)
	if err := s.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := asking.ask(t.Context())
	if err == nil || got.Problem != report.Refused {
		t.Errorf("without a server: got %+v %v", got, err)
	}
	if err := s.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := answered(t, asking); facts(got) != s.writes(t) {
		t.Errorf("got %+v", got)
	}
}

// A certificate that was replaced is used at once.
func TestCertificatesAreReadForEachQuestion(t *testing.T) {
	s := started(t)
	asking := s.trusted(t)
	answered(t, asking)
	mount(t, asking.folder, "south", s.revoked, s.authority.pem())
	if got, err := asking.ask(t.Context()); err == nil || !rejected(got.Problem) {
		t.Errorf("the certificate was not read again: got %+v %v", got, err)
	}
	mount(t, asking.folder, "south", s.authority.client(t), s.authority.pem())
	answered(t, asking)
}

// However often a site is asked, it has no session afterwards, and the watcher keeps nothing.
func TestMemoryStaysFlat(t *testing.T) {
	s := started(t)
	for name, asking := range map[string]*asker{
		"answers":   s.trusted(t),
		"refusals":  opened(t, Member{Name: "south", Host: "localhost", Port: freePort(t)}, mounted(t, s.authority.client(t), s.authority.pem())),
		"a failure": opened(t, s.south(), mounted(t, s.revoked, s.authority.pem())),
	} {
		ask := func(times int) {
			for range times {
				_, _ = asking.ask(t.Context())
			}
		}
		ask(20)
		before, routines := heap(), runtime.NumGoroutine()
		ask(300)
		if grown := heap() - before; grown > 256<<10 {
			t.Errorf("%s: the heap grew by %d bytes", name, grown)
		}
		err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
			return runtime.NumGoroutine() <= routines+2, nil
		})
		if err != nil {
			t.Errorf("%s: %d goroutines after %d", name, runtime.NumGoroutine(), routines)
		}
	}
	// A server that shuts down waits for sessions. It notices the end of one a moment later.
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		return s.value(t, "SELECT count(*)::text FROM pg_stat_activity WHERE application_name = 'pgstorage-watch'") == "0", nil
	})
	if err != nil {
		t.Errorf("sessions stay: %v", err)
	}
}

// heap in bytes that is in use.
func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
