package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
)

// recorder keeps all reports, and calls seen with each.
type recorder struct {
	mu      sync.Mutex
	reports []RunStatus
	seen    func(RunStatus)
}

func (r *recorder) Report(_ context.Context, report RunStatus) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = append(r.reports, report)
	if r.seen != nil {
		r.seen(report)
	}
	return nil
}

func (r *recorder) last() RunStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reports[len(r.reports)-1]
}

func parsed(t *testing.T, text string) spec.Spec {
	t.Helper()
	s, err := spec.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func results(checks []v1alpha1.IntegrityCheck) map[string]string {
	out := map[string]string{}
	for _, c := range checks {
		out[c.Name] = c.Result
	}
	return out
}

func wantReason(t *testing.T, err error, rec *recorder, reason string) {
	t.Helper()
	var f *Failure
	if !errors.As(err, &f) || f.Reason != reason {
		t.Errorf("want a failure for %s, got %v", reason, err)
	}
	last := rec.last()
	if last.Phase != PhaseFailed || last.Reason != reason || last.Message == "" {
		t.Errorf("want a report that failed for %s, got %+v", reason, last)
	}
}

func TestWholeBenchmark(t *testing.T) {
	p := sharedPostgres(t)
	p.database(t)
	runner, rec := p.runner(t, parsed(t, `{"cluster": "shop", "durability": "Local", "foreignKeys": true,
		"pgbench": {"scale": 1, "clients": [1, 3], "repeats": 2, "transactions": 40, "warmUp": "1s"}}`))
	outcome, err := runner.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	report := outcome.Report
	if diff := cmp.Diff(report, rec.last()); diff != "" {
		t.Errorf("the last report is not the outcome: %s", diff)
	}
	if report.Phase != PhaseSucceeded || report.Percent != 100 || report.Attempt != "pod-1" || report.Reason != "" {
		t.Errorf("%+v", report)
	}
	want := map[string]string{CheckChecksums: Passed, CheckInvariants: Passed, CheckAmcheck: Passed}
	if diff := cmp.Diff(want, results(report.Integrity)); diff != "" {
		t.Errorf("%s\n%+v", diff, report.Integrity)
	}
	if report.SynchronousCommit != "on" || len(report.Fingerprint) != 64 || !strings.HasPrefix(report.ServerVersion, "1") {
		t.Errorf("%+v", report)
	}
	var order []string
	for _, r := range outcome.Runs {
		order = append(order, fmt.Sprintf("%d:%d", r.Repeat, r.Clients))
	}
	if diff := cmp.Diff([]string{"1:1", "1:3", "2:1", "2:3"}, order); diff != "" {
		t.Error("repeats are not interleaved:", diff)
	}
	for i, clients := range []int32{1, 3} {
		r := report.Results[i]
		if r.Clients != clients || len(r.TPSOfRuns) != 2 || r.Transactions != int64(clients)*40 || len(r.Statements) != 11 || r.LatencyP99 == "" {
			t.Errorf("%+v", r)
		}
	}
	if left, err := filepath.Glob(runner.WorkDir + "/*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestRateRetriesAndSimpleUpdate(t *testing.T) {
	p := sharedPostgres(t)
	p.database(t)
	runner, _ := p.runner(t, parsed(t, `{"cluster": "shop", "durability": "Async", "pgbench": {"scale": 1, "clients": [2],
		"script": "SimpleUpdate", "duration": "1s", "rate": 200, "maxTries": 3, "protocol": "Prepared", "integrity": "Basic"}}`))
	outcome, err := runner.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	result := outcome.Runs[0].Result
	if result.QueryMode != "prepared" || result.LagAvg == 0 || result.TPS > 400 {
		t.Errorf("%+v", result)
	}
	want := map[string]string{CheckChecksums: Passed, CheckInvariants: Passed, CheckAmcheck: NotRun}
	if diff := cmp.Diff(want, results(outcome.Report.Integrity)); diff != "" {
		t.Errorf("%s\n%+v", diff, outcome.Report.Integrity)
	}
}

func TestCustomScripts(t *testing.T) {
	p := sharedPostgres(t)
	p.database(t)
	s := parsed(t, `{"cluster": "shop", "durability": "Local", "pgbench": {"scale": 1, "clients": [1], "transactions": 30,
		"customScripts": [{"configMap": "a", "key": "read.sql", "weight": 2}, {"configMap": "b", "key": "write.sql"}]}}`)
	s.ScriptsDir = t.TempDir()
	for name, text := range map[string]string{"read.sql": "SELECT count(*) FROM pgbench_tellers;\n", "write.sql": "UPDATE pgbench_tellers SET filler = 'x' WHERE tid = 1;\n"} {
		if err := os.WriteFile(filepath.Join(s.ScriptsDir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runner, _ := p.runner(t, s)
	outcome, err := runner.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := outcome.Runs[0].Result.Scripts; len(got) != 2 || got[0].Weight != 2 {
		t.Errorf("%+v", got)
	}
	if got := results(outcome.Report.Integrity)[CheckInvariants]; got != NotRun {
		t.Errorf("invariants of custom scripts: %s", got)
	}
}

func TestScriptThatFailsSaysWhy(t *testing.T) {
	p := sharedPostgres(t)
	p.database(t)
	s := parsed(t, `{"cluster": "shop", "durability": "Local", "pgbench": {"scale": 1, "clients": [1], "transactions": 5,
		"customScripts": [{"configMap": "a", "key": "bad.sql"}]}}`)
	s.ScriptsDir = t.TempDir()
	if err := os.WriteFile(filepath.Join(s.ScriptsDir, "bad.sql"), []byte("SELECT 1/0;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	runner, rec := p.runner(t, s)
	_, err := runner.Run(t.Context())
	wantReason(t, err, rec, ReasonFailed)
	if !strings.Contains(rec.last().Message, "division by zero") {
		t.Error(rec.last().Message)
	}
}

func TestDurabilityIsProved(t *testing.T) {
	p := sharedPostgres(t)
	for name, tc := range map[string]struct{ tier, setting, want string }{
		"no standby":     {"Quorum", "", "synchronous_standby_names is empty"},
		"weaker session": {"Local", "synchronous_commit = off", "synchronous_commit is off"},
		"local only":     {"Quorum", "synchronous_commit = local", "synchronous_commit is local"},
	} {
		t.Run(name, func(t *testing.T) {
			role := p.database(t)
			if tc.setting != "" {
				p.sql(t, "postgres", "ALTER ROLE "+role+" SET "+tc.setting)
			}
			runner, rec := p.runner(t, parsed(t, `{"cluster": "shop", "durability": "`+tc.tier+`", "pgbench": {"scale": 1}}`))
			_, err := runner.Run(t.Context())
			wantReason(t, err, rec, ReasonDurabilityMismatch)
			if !strings.Contains(rec.last().Message, tc.want) {
				t.Error(rec.last().Message)
			}
		})
	}
}

// A tier that is lowered while pgbench runs is found after the run.
func TestDurabilityIsProvedAfterEachRun(t *testing.T) {
	p := sharedPostgres(t)
	role := p.database(t)
	runner, rec := p.runner(t, parsed(t, `{"cluster": "shop", "durability": "Local", "pgbench": {"scale": 1, "clients": [1], "duration": "4s"}}`))
	var once sync.Once
	rec.seen = func(r RunStatus) {
		if r.Phase == PhaseRunning && strings.Contains(r.Message, "TPS") {
			once.Do(func() { p.sql(t, "postgres", "ALTER ROLE "+role+" SET synchronous_commit = off") })
		}
	}
	outcome, err := runner.Run(t.Context())
	wantReason(t, err, rec, ReasonDurabilityMismatch)
	if len(outcome.Runs) != 0 {
		t.Error("the run counts all the same")
	}
}

func TestInterrupted(t *testing.T) {
	p := sharedPostgres(t)
	p.database(t)
	runner, rec := p.runner(t, parsed(t, `{"cluster": "shop", "durability": "Local", "pgbench": {"scale": 1, "clients": [2], "duration": "1h"}}`))
	ctx, stop := context.WithCancel(t.Context())
	rec.seen = func(r RunStatus) {
		if r.Phase == PhaseRunning {
			stop()
		}
	}
	began := time.Now()
	_, err := runner.Run(ctx)
	wantReason(t, err, rec, ReasonInterrupted)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("took %s to stop", took)
	}
}

func TestUnreachableServer(t *testing.T) {
	t.Setenv("PGHOST", t.TempDir())
	t.Setenv("PGDATABASE", "pgstorage_bench_x")
	runner, rec := (&postgres{}).runner(t, parsed(t, `{"cluster": "shop", "durability": "Local", "pgbench": {}}`))
	_, err := runner.Run(t.Context())
	wantReason(t, err, rec, ReasonFailed)
}

func TestRefusesDatabasesOfApplications(t *testing.T) {
	for _, name := range []string{"app", "postgres", "my_pgstorage_bench", "pgstorage_bench host=elsewhere", "pgstorage_benCH"} {
		t.Setenv("PGDATABASE", name)
		runner, rec := (&postgres{}).runner(t, parsed(t, `{"cluster": "shop", "durability": "Local", "pgbench": {}}`))
		_, err := runner.Run(t.Context())
		if !errors.Is(err, ErrNotBenchmarkDatabase) {
			t.Errorf("%s: %v", name, err)
		}
		wantReason(t, err, rec, ReasonFailed)
	}
}

func TestRefuse(t *testing.T) {
	runner, rec := (&postgres{}).runner(t, spec.Spec{})
	err := runner.Refuse(t.Context(), errors.New("no such file"))
	wantReason(t, err, rec, ReasonFailed)
}
