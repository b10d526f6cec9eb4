package runner

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/fingerprint"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/record"
	"github.com/pgstorage/pgstorage/internal/bench/runner/machine"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// kept is a keeper that fails a given number of times.
type kept struct {
	failures int
	data     []map[string][]byte
}

func (k *kept) Keep(_ context.Context, data map[string][]byte) (string, error) {
	if k.failures > 0 {
		k.failures--
		return "", errors.New("no route to the API server")
	}
	k.data = append(k.data, data)
	return "shop-record", nil
}

func (k *kept) record(t *testing.T, i int) record.Record {
	t.Helper()
	r, err := record.Decode(k.data[i])
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// limited is the machine of a runner with a CPU limit, which from the second look on
// has waited for its quota.
type limited struct{ looks int }

func (l *limited) Open(name string) (fs.File, error) {
	texts := map[string]string{
		"sys/fs/cgroup/cpu.stat":   "nr_periods 10\nnr_throttled 1\nthrottled_usec 1000\n",
		"sys/fs/cgroup/cpu.max":    "5000 100000\n",
		"proc/sys/kernel/hostname": "nightly-x\n",
	}
	if name == "sys/fs/cgroup/cpu.stat" {
		l.looks++
	}
	if l.looks > 1 {
		texts["sys/fs/cgroup/cpu.stat"] = "nr_periods 90\nnr_throttled 81\nthrottled_usec 9000000\n"
	}
	files := fstest.MapFS{}
	for path, text := range texts {
		files[path] = &fstest.MapFile{Data: []byte(text)}
	}
	return files.Open(name)
}

func finding(t *testing.T, r v1alpha1.BenchmarkResult, check string) v1alpha1.BenchmarkFinding {
	t.Helper()
	for _, f := range r.Findings {
		if f.Check == check {
			return f
		}
	}
	t.Fatalf("no finding of %s: %+v", check, r)
	return v1alpha1.BenchmarkFinding{}
}

// The findings on a run are of what was seen beside it, on a real server and as its superuser.
// Each run is kept once it has ended.
func TestRunsAreKeptAndJudged(t *testing.T) {
	p := sharedPostgres(t)
	p.database(t)
	runner, _ := p.runner(t, parsed(t, `{"cluster": "shop", "durability": "Local", "settings": {"Storage": {"profile": "fast"}},
		"pgbench": {"scale": 1, "clients": [1], "repeats": 2, "duration": "2s"}}`))
	keeper := &kept{}
	runner.Keeper, runner.Files = keeper, &limited{}
	outcome, err := runner.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(keeper.data) != 2 || outcome.Report.Record != "shop-record" {
		t.Fatalf("kept %d times as %q", len(keeper.data), outcome.Report.Record)
	}
	if first := keeper.record(t, 0); len(first.Runs) != 1 || first.Attempt != "pod-1" {
		t.Errorf("after the first run: %+v", first)
	}
	runs := keeper.record(t, 1).Runs
	if len(runs) != 2 || runs[0].Repeat != 1 || runs[1].Repeat != 2 {
		t.Fatalf("%d runs", len(runs))
	}
	run := runs[0]
	if run.Result == nil || run.Durability != v1alpha1.DurabilityLocal || len(run.Seconds) == 0 || run.Start.IsZero() || run.SamplingRate != 1 {
		t.Errorf("%+v", run)
	}
	again, err := run.Trial("v", 1)
	if err != nil || again.Latencies.Count() != run.Result.Transactions {
		t.Errorf("latencies of %d transactions: %v", run.Result.Transactions, err)
	}
	f := run.Facts
	if f.Duration < 2*time.Second || f.WallDuration == nil || f.Client == nil || f.Client.CPU <= 0 || f.Client.Processors != 0.05 || !f.Workload.Writes {
		t.Errorf("%+v %+v", f, f.Client)
	}
	if f.Server == nil || f.Server.CheckpointTimeout != 5*time.Minute || f.Dataset == nil || f.Dataset.Size < 10<<20 || f.Dataset.SharedBuffers != 128<<20 || f.Dataset.Cache <= 0 {
		t.Errorf("of the server: %+v %+v", f.Server, f.Dataset)
	}
	s := run.Settings
	if s[fingerprint.Storage]["profile"] != "fast" || s[fingerprint.Kernel]["release"] == "" || s[fingerprint.Postgres]["wal_sync_method"] == "" || s[fingerprint.Storage]["data filesystem"] == "" ||
		!strings.HasPrefix(s[fingerprint.Versions]["postgres"], "1") {
		t.Errorf("%v", s)
	}
	// The server shares this machine: its node is observed where the kernel shows it.
	if !slices.ContainsFunc(f.Pods, func(p validity.Pod) bool { return p.Name == "nightly-x" && p.Throttled == 80 }) {
		t.Errorf("%+v", f.Pods)
	}
	result := outcome.Report.Results[0]
	if got := finding(t, result, validity.CheckThrottling); got.Verdict != string(validity.Rejected) || got.Reason != v1alpha1.ReasonPodThrottled || got.Runs != 1 {
		t.Errorf("%+v", got)
	}
	if got := finding(t, result, validity.CheckFlush); got.Verdict != string(validity.NotRun) {
		t.Errorf("%+v", got)
	}
	if got := finding(t, result, validity.CheckDataset); got.Reason != validity.ReasonDatasetInSharedBuffers {
		t.Errorf("%+v", got)
	}
	if !slices.Contains(result.Passed, validity.CheckFailures) || result.Rejected < 1 {
		t.Errorf("%+v", result)
	}
}

// Without a superuser the server's machine is not looked at, and the checks say so.
func TestWithoutASuperuser(t *testing.T) {
	p := sharedPostgres(t)
	p.database(t)
	runner, _ := p.runner(t, parsed(t, `{"cluster": "shop", "durability": "Local", "pgbench": {"scale": 1, "clients": [1], "transactions": 50, "integrity": "Basic"}}`))
	runner.Observer = nil
	keeper := &kept{failures: 1}
	runner.Keeper = keeper
	outcome, err := runner.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	result := outcome.Report.Results[0]
	for _, check := range []string{validity.CheckThrottling, validity.CheckNeighbours, validity.CheckFlush} {
		if got := finding(t, result, check); got.Verdict != string(validity.NotRun) {
			t.Errorf("%+v", got)
		}
	}
	// What was lost at first is there at the end.
	if len(keeper.data) != 1 || outcome.Report.Record == "" || strings.Contains(outcome.Report.Message, "not kept") {
		t.Errorf("%d %+v", len(keeper.data), outcome.Report)
	}
	f := keeper.record(t, 0).Runs[0].Facts
	if f.Pods != nil || f.Nodes != nil || f.Server == nil || f.Dataset == nil || f.Dataset.Cache != 0 {
		t.Errorf("%+v", f)
	}
}

// A run that failed is kept with its reason, and what was measured before it too.
func TestAFailedRunIsKept(t *testing.T) {
	p := sharedPostgres(t)
	p.database(t)
	runner, _ := p.runner(t, parsed(t, `{"cluster": "shop", "durability": "Local", "pgbench": {"scale": 1, "clients": [1], "transactions": 5, "script": "SelectOnly"}}`))
	keeper := &kept{}
	runner.Keeper = keeper
	b := &execution{Runner: runner, record: record.Record{Attempt: "pod-1"}}
	b.remember(t.Context(), MeasuredRun{Clients: 1, Repeat: 1, Result: &pgbench.Result{TPS: 5}}, nil)
	b.remember(t.Context(), MeasuredRun{Clients: 1, Repeat: 2, Result: &pgbench.Result{TPS: 5}}, errors.New("fsync is off"))
	got := keeper.record(t, 1).Runs
	if len(got) != 2 || got[0].Result == nil || got[1].Result != nil || got[1].Failure != "fsync is off" {
		t.Errorf("%+v", got)
	}
}

func TestARecordThatIsNotKeptIsTold(t *testing.T) {
	b := &execution{Runner: &Runner{Keeper: &kept{failures: 9}, Log: slog.New(slog.DiscardHandler)}}
	b.keep(t.Context())
	b.conclude(nil)
	if !strings.Contains(b.report.Message, "their record was not kept: no route") || b.report.Record != "" {
		t.Errorf("%+v", b.report)
	}
}

func TestBeside(t *testing.T) {
	began := time.Unix(1, 0)
	before := &counters{Started: began, Checkpoints: 3, Autovacuums: map[string]int64{"a": 2}, Vacuuming: []string{"v"}}
	after := &counters{
		Started: began, Checkpoints: 5, CheckpointTimeout: time.Minute, Autovacuums: map[string]int64{"a": 2, "b": 1},
		Vacuuming: []string{"v"}, Backups: []string{"base backup, streaming database files"},
	}
	want := &validity.Server{Checkpoints: 2, CheckpointTimeout: time.Minute, Autovacuums: []string{"b", "v"}, Backups: after.Backups}
	if diff := cmp.Diff(want, beside(before, after)); diff != "" {
		t.Error(diff)
	}
	restarted, reset := *after, *after
	restarted.Started, reset.Checkpoints = time.Unix(2, 0), 0
	for name, pair := range map[string][2]*counters{
		"not asked before": {nil, after}, "not asked after": {before, nil}, "started anew": {before, &restarted}, "reset": {before, &reset},
	} {
		if got := beside(pair[0], pair[1]); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestWrites(t *testing.T) {
	at := func(changed int64) observed { return observed{counters: &counters{Changed: changed}} }
	custom := v1alpha1.PgbenchSpec{CustomScripts: []v1alpha1.CustomScript{{Key: "a.sql"}}}
	for name, tc := range map[string]struct {
		pgbench       v1alpha1.PgbenchSpec
		before, after observed
		took          time.Duration
		want          bool
	}{
		"built-in":            {v1alpha1.PgbenchSpec{Script: v1alpha1.ScriptTPCB}, observed{}, observed{}, time.Minute, true},
		"built-in reads":      {v1alpha1.PgbenchSpec{Script: v1alpha1.ScriptSelectOnly}, at(1), at(2), time.Minute, false},
		"custom reads":        {custom, at(7), at(7), time.Minute, false},
		"custom writes":       {custom, at(7), at(8), time.Minute, true},
		"custom, too short":   {custom, at(7), at(7), time.Second, true},
		"custom, not counted": {custom, observed{}, at(7), time.Minute, true},
	} {
		r := &execution{Runner: &Runner{Spec: spec.Spec{Pgbench: tc.pgbench}}}
		if got := r.writes(tc.before, tc.after, tc.took); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// One machine is reported once, whichever program looked at it.
func TestOneNodeIsToldOnce(t *testing.T) {
	at := func(host, boot, stat string) machine.Snapshot {
		return machine.Read(map[string]string{"/proc/sys/kernel/hostname": host, "/proc/sys/kernel/random/boot_id": boot, "/proc/stat": stat})
	}
	const early, late = "cpu 1 1 1 1 1 1 1 0\n", "cpu 2 2 2 2 2 2 2 1\n"
	before := observed{server: at("shop-1", "a", early), own: at("runner", "a", early)}
	after := observed{server: at("shop-1", "a", late), own: at("runner", "a", late)}
	if _, nodes := between(before, after, nil); len(nodes) != 1 || nodes[0].Name != "of pod shop-1" {
		t.Errorf("%+v", nodes)
	}
	before.own, after.own = at("runner", "b", early), at("runner", "b", late)
	if _, nodes := between(before, after, nil); len(nodes) != 2 {
		t.Errorf("%+v", nodes)
	}
}

// The cluster declares a CPU limit for the server's pod. It says nothing of the runner's.
func TestDeclaredLimitIsTheServersAlone(t *testing.T) {
	at := func(host, stat string) machine.Snapshot {
		return machine.Read(map[string]string{"/proc/sys/kernel/hostname": host, "/sys/fs/cgroup/cpu.stat": stat, "/sys/fs/cgroup/cpu.max": "50000 100000\n"})
	}
	const early, late = "nr_periods 1\nnr_throttled 0\nthrottled_usec 0\n", "nr_periods 90\nnr_throttled 81\nthrottled_usec 9000000\n"
	before := observed{server: at("shop-1", early), own: at("runner", early)}
	after := observed{server: at("shop-1", late), own: at("runner", late)}
	s, err := spec.Parse([]byte(`{"cluster": "shop", "durability": "Local", "cpuLimit": "500m", "pgbench": {"scale": 1}}`))
	if err != nil {
		t.Fatal(err)
	}
	pods, _ := between(before, after, s.DeclaredCPU())
	if len(pods) != 2 || pods[0].Name != "shop-1" || pods[0].Declared == nil || *pods[0].Declared != 0.5 || pods[1].Declared != nil {
		t.Errorf("%+v", pods)
	}
}

// The clock is read next to pgbench, whatever the looks take.
func TestNothingToLookAt(t *testing.T) {
	r := &execution{Runner: &Runner{Clock: clock.RealClock{}}}
	if diff := cmp.Diff(machine.Snapshot{}, r.lookAtOwn(), cmp.AllowUnexported(machine.Snapshot{})); diff != "" {
		t.Error(diff)
	}
}
