package validity

import (
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

const gi = int64(1) << 30

// valid is a run that nothing is wrong with.
func valid() Facts {
	wall, steal := 600100*time.Millisecond, 0.001
	return Facts{
		Duration: 10 * time.Minute, WallDuration: &wall,
		Flush:   &Flush{Measured: 800 * time.Microsecond, Floor: 500 * time.Microsecond, Source: "the volume"},
		Dataset: &Dataset{Size: 100 * gi, SharedBuffers: 4 * gi, Cache: 8 * gi, CacheIsARC: true},
		Client:  &Client{CPU: 4 * time.Minute, Processors: 2, Threads: 2},
		Pods: []Pod{
			{Name: "runner", Stalled: &Stalls{CPU: time.Minute}},
			{Name: "shop-1", Periods: 6000, Throttled: 3, ThrottledTime: time.Second, Stalled: &Stalls{CPU: time.Minute, IO: 8 * time.Minute}},
		},
		Nodes:  []Node{{Name: "n1", Steal: &steal, Stalled: &Stalls{CPU: 90 * time.Second, IO: 8 * time.Minute}}},
		Server: &Server{Checkpoints: 2, CheckpointTimeout: 5 * time.Minute},
		Workload: Workload{
			Writes: true, Clients: 8, Tier: v1alpha1.DurabilityLocal, LatencyAverage: 4 * time.Millisecond, Transactions: 100000, Failed: 100,
		},
	}
}

func TestNothingWrong(t *testing.T) {
	findings := Check(valid())
	if Worst(findings) != Passed {
		t.Errorf("%+v", findings)
	}
	names := map[string]bool{}
	for _, f := range findings {
		if f.Reason != ReasonPassed || f.Message == "" || names[f.Check] {
			t.Errorf("%+v", f)
		}
		names[f.Check] = true
	}
}

// throttle the server for 15% of the run, by a quota under a declared limit.
func throttle(quota, declared *float64) func(*Facts) {
	return func(f *Facts) {
		p := &f.Pods[1]
		p.Throttled, p.ThrottledTime, p.Quota, p.Declared = 900, 90*time.Second, quota, declared
	}
}

func TestDeclaredLimitIsTheQuota(t *testing.T) {
	f := valid()
	for _, tc := range []struct{ quota, declared, want *float64 }{
		{nil, nil, nil}, {new(0.5), nil, nil}, {nil, new(0.5), nil}, {new(0.25), new(0.5), nil}, {new(0.5), new(0.5), new(0.5)},
	} {
		throttle(tc.quota, tc.declared)(&f)
		if got := DeclaredLimit(f); (got == nil) != (tc.want == nil) || got != nil && *got != *tc.want {
			t.Errorf("%+v: got %v", f.Pods[1], got)
		}
	}
}

func TestChecks(t *testing.T) {
	for name, tc := range map[string]struct {
		change  func(*Facts)
		check   string
		verdict Verdict
		reason  string
		// message says what is wrong, and what to do.
		message []string
	}{
		"flush in memory": {
			func(f *Facts) { f.Flush.Measured = 30 * time.Microsecond },
			CheckFlush, Rejected, ReasonFlushNotHonoured, []string{"took 30µs", "the volume cannot do it in less than 500µs", "volatile write cache"},
		},
		"faster than any device": {
			func(f *Facts) { f.Flush = &Flush{Measured: time.Microsecond} },
			CheckFlush, Rejected, ReasonFlushNotHonoured, []string{"any device cannot do it in less than 5µs"},
		},
		"disk that turns too fast": {
			func(f *Facts) {
				f.Flush = &Flush{Measured: 2 * time.Millisecond, Floor: time.Minute / 7200, Source: "a disk of 7200 rpm"}
			},
			CheckFlush, Rejected, ReasonFlushNotHonoured, []string{"8.333333ms"},
		},
		"commit that did not wait": {
			func(f *Facts) { f.Workload.Clients, f.Workload.LatencyAverage = 1, 100*time.Microsecond },
			CheckFlush, Rejected, ReasonCommitBelowFlushFloor, []string{"committed in 100µs", "synchronous_commit"},
		},
		"many clients share a flush": {
			func(f *Facts) { f.Workload.LatencyAverage = 100 * time.Microsecond },
			CheckFlush, Passed, ReasonPassed, nil,
		},
		"nobody waits for a flush": {
			func(f *Facts) { f.Flush, f.Workload.Tier = nil, v1alpha1.DurabilityAsync },
			CheckFlush, Passed, ReasonPassed, []string{"no transaction waits"},
		},
		"memory is not flushed": {
			func(f *Facts) { f.Flush, f.Workload.Tier = nil, v1alpha1.DurabilityEphemeral },
			CheckFlush, Passed, ReasonPassed, []string{"no transaction waits"},
		},
		"reads wait for no flush": {
			func(f *Facts) { f.Flush, f.Workload.Writes = nil, false },
			CheckFlush, Passed, ReasonPassed, nil,
		},
		"flush not measured": {
			func(f *Facts) { f.Flush = nil },
			CheckFlush, NotRun, ReasonNotObserved, []string{"pg_test_fsync) was not observed"},
		},
		"in shared_buffers": {
			func(f *Facts) { f.Dataset.Size = 4 * gi },
			CheckDataset, Caution, ReasonDatasetInSharedBuffers, []string{"4Gi fits in shared_buffers of 4Gi", "exceeds 12Gi"},
		},
		"in the ARC": {
			func(f *Facts) { f.Dataset.Size = 12 * gi },
			CheckDataset, Caution, ReasonDatasetInMemory, []string{"the ARC of 8Gi", "cold cache"},
		},
		"in the page cache": {
			func(f *Facts) { f.Dataset.Size, f.Dataset.CacheIsARC = 12*gi, false },
			CheckDataset, Caution, ReasonDatasetInMemory, []string{"the page cache of 8Gi"},
		},
		"just beyond memory": {func(f *Facts) { f.Dataset.Size = 12*gi + 1 }, CheckDataset, Passed, ReasonPassed, nil},
		"in shared_buffers, whatever else there is": {
			func(f *Facts) { f.Dataset.Size, f.Dataset.Cache = 4*gi, 0 },
			CheckDataset, Caution, ReasonDatasetInSharedBuffers, []string{"exceeds 4Gi"},
		},
		"in memory of unknown size": {
			func(f *Facts) { f.Dataset.Cache = 0 },
			CheckDataset, NotRun, ReasonNotObserved, []string{"memory beside shared_buffers"},
		},
		"dataset of unknown size": {func(f *Facts) { f.Dataset = nil }, CheckDataset, NotRun, ReasonNotObserved, nil},
		"no checkpoint": {
			func(f *Facts) { f.Server.Checkpoints = 0 },
			CheckCheckpoint, Caution, ReasonNoCheckpointInRun, []string{"10m0s", "longer than checkpoint_timeout (5m0s)"},
		},
		"checkpoint in a short run": {
			func(f *Facts) { f.Duration, f.Server.Checkpoints = time.Minute, 1 },
			CheckCheckpoint, Caution, ReasonCheckpointInRun, []string{"1 checkpoint(s) in a run of 1m0s", "Issue CHECKPOINT"},
		},
		"reads need no checkpoint": {func(f *Facts) { f.Server, f.Workload.Writes = nil, false }, CheckCheckpoint, Passed, ReasonPassed, nil},
		"checkpoints not counted":  {func(f *Facts) { f.Server = nil }, CheckCheckpoint, NotRun, ReasonNotObserved, nil},
		"threads of pgbench busy": {
			func(f *Facts) { f.Client = &Client{CPU: 9 * time.Minute, Processors: 8, Threads: 1} },
			CheckClient, Rejected, ReasonClientBound, []string{"1 thread(s) were 90% busy", "raise jobs"},
		},
		"processors of the runner busy": {
			func(f *Facts) { f.Client = &Client{CPU: 19 * time.Minute, Processors: 2, Threads: 8} },
			CheckClient, Rejected, ReasonClientBound, []string{"1.90 of its 2 processors", "another node"},
		},
		"client not observed": {func(f *Facts) { f.Client = nil }, CheckClient, NotRun, ReasonNotObserved, nil},
		"throttled": {
			throttle(nil, nil),
			CheckThrottling, Rejected, ReasonPodThrottled, []string{"pod shop-1", "900 of 6000 periods", "1m30s in a run of 10m0s", "CPU limit of the pod"},
		},
		"throttled by a limit that nobody declares": {
			throttle(new(0.5), nil),
			CheckThrottling, Rejected, ReasonPodThrottled, []string{"pod shop-1", "raise or remove the CPU limit of the pod"},
		},
		"throttled by the declared limit": {
			throttle(new(0.5), new(0.5)),
			CheckThrottling, Caution, ReasonCPULimitReached, []string{
				"pod shop-1 reached its CPU limit of 0.5", "spec.resources.limits.cpu", "900 of 6000 periods", "1m30s in a run of 10m0s",
				"This limit sets the rate", "does not measure the storage", "raise or remove the limit",
			},
		},
		"throttled by the least quota of a kubelet": {
			throttle(new(0.01), new(0.005)), CheckThrottling, Caution, ReasonCPULimitReached, []string{"CPU limit of 0.005"},
		},
		"throttled below the declared limit": {
			throttle(new(0.25), new(0.5)),
			CheckThrottling, Rejected, ReasonPodThrottled, []string{"its quota is 0.25 CPU and not the 0.5 that the cluster declares", "Another limit sets the rate"},
		},
		"throttled by a quota that was not read": {
			throttle(nil, new(0.5)),
			CheckThrottling, Rejected, ReasonPodThrottled, []string{"declares a CPU limit of 0.5, but the quota was not read or changed"},
		},
		"runner throttled beside a declared limit": {
			func(f *Facts) {
				throttle(new(0.5), new(0.5))(f)
				f.Pods[0].Throttled, f.Pods[0].ThrottledTime = 100, 10*time.Second
			},
			CheckThrottling, Rejected, ReasonPodThrottled, []string{"pod runner waited"},
		},
		"declared limit not reached": {
			func(f *Facts) { f.Pods[1].Quota, f.Pods[1].Declared = new(0.5), new(0.5) },
			CheckThrottling, Passed, ReasonPassed, []string{"less than 1%"},
		},
		"pods not observed": {func(f *Facts) { f.Pods = nil }, CheckThrottling, NotRun, ReasonNotObserved, nil},
		"autovacuum": {
			func(f *Facts) { f.Server.Autovacuums = []string{"a", "b", "c", "d", "e"} },
			CheckAutovacuum, Caution, ReasonAutovacuumRunning, []string{"a, b, c and 2 more", "Vacuum before the run"},
		},
		"autovacuum not observed": {func(f *Facts) { f.Server = nil }, CheckAutovacuum, NotRun, ReasonNotObserved, nil},
		"backup": {
			func(f *Facts) { f.Server.Backups = []string{"nightly-3"} },
			CheckBackup, Rejected, ReasonBackupRunning, []string{"nightly-3", "suspend scheduled backups"},
		},
		"backup not observed": {func(f *Facts) { f.Server = nil }, CheckBackup, NotRun, ReasonNotObserved, nil},
		"steal": {
			func(f *Facts) { *f.Nodes[0].Steal = 0.031 },
			CheckNeighbours, Rejected, ReasonProcessorStolen, []string{"3.1%", "node n1", "dedicated"},
		},
		"others wait for I/O": {
			func(f *Facts) { f.Nodes[0].Stalled.IO = 9 * time.Minute },
			CheckNeighbours, Caution, ReasonNoisyNeighbours, []string{"at least 10%", "waited for I/O"},
		},
		"only ours wait": {
			func(f *Facts) { f.Nodes[0].Stalled.IO = 8*time.Minute + 20*time.Second },
			CheckNeighbours, Passed, ReasonPassed, nil,
		},
		"whose waiting is unknown": {
			func(f *Facts) { f.Nodes[0].Stalled.IO, f.Pods[0].Stalled = 9*time.Minute, nil },
			CheckNeighbours, Passed, ReasonPassed, []string{"hypervisor took no CPU time", "was not observed"},
		},
		"the worse of two nodes": {
			func(f *Facts) {
				steal := 0.5
				f.Nodes[0].Stalled.IO = 9 * time.Minute
				f.Nodes = append(f.Nodes, Node{Name: "of pod shop-1", Steal: &steal}, Node{Name: "n3"})
			},
			CheckNeighbours, Rejected, ReasonProcessorStolen, []string{"50.0%", "node of pod shop-1"},
		},
		"nodes that were observed": {
			func(f *Facts) { f.Nodes = append(f.Nodes, Node{Name: "n2"}) },
			CheckNeighbours, Passed, ReasonPassed, []string{"on node n1"},
		},
		"pods that were observed": {
			func(f *Facts) { f.Pods = f.Pods[:1] },
			CheckThrottling, Passed, ReasonPassed, []string{"runner waited"},
		},
		"node not observed": {func(f *Facts) { f.Nodes = nil }, CheckNeighbours, NotRun, ReasonNotObserved, nil},
		"node tells nothing": {
			func(f *Facts) { f.Nodes = []Node{{Name: "n1"}} }, CheckNeighbours, NotRun, ReasonNotObserved, nil,
		},
		"clock set forward": {
			func(f *Facts) { *f.WallDuration += 2 * time.Second },
			CheckClock, Rejected, ReasonClockJumped, []string{"10m2.1s in a run of 10m0s"},
		},
		"clock set back":     {func(f *Facts) { *f.WallDuration -= time.Second }, CheckClock, Rejected, ReasonClockJumped, nil},
		"clock slewed":       {func(f *Facts) { *f.WallDuration = f.Duration + 300*time.Millisecond }, CheckClock, Passed, ReasonPassed, nil},
		"clock not observed": {func(f *Facts) { f.WallDuration = nil }, CheckClock, NotRun, ReasonNotObserved, nil},
		"failures": {
			func(f *Facts) { f.Workload.Failed = 200 },
			CheckFailures, Caution, ReasonTransactionsFailed, []string{"200 of 100200", "maxTries"},
		},
		"no transactions": {func(f *Facts) { f.Workload.Transactions, f.Workload.Failed = 0, 0 }, CheckFailures, NotRun, ReasonNotObserved, nil},
		"unsteady": {
			func(f *Facts) { f.Workload.Changes = []LevelChange{{40 * time.Second, 300, 1000}} },
			CheckSteadiness, Caution, ReasonLevelChanged, []string{"first at 40s from 300 to 1000", "Extend the warm-up"},
		},
		"no time passed": {func(f *Facts) { f.Duration = 0 }, CheckSteadiness, NotRun, ReasonNotObserved, nil},
	} {
		t.Run(name, func(t *testing.T) {
			facts := valid()
			tc.change(&facts)
			for _, f := range Check(facts) {
				if f.Check != tc.check {
					continue
				}
				if f.Verdict != tc.verdict || f.Reason != tc.reason {
					t.Errorf("%+v", f)
				}
				for _, part := range tc.message {
					if !strings.Contains(f.Message, part) {
						t.Errorf("want %q in: %s", part, f.Message)
					}
				}
			}
		})
	}
}

// Without its facts, no check passes.
func TestNothingObserved(t *testing.T) {
	for _, f := range Check(Facts{Workload: Workload{Writes: true, Tier: v1alpha1.DurabilityLocal}}) {
		if f.Verdict != NotRun {
			t.Errorf("%+v", f)
		}
	}
}

func TestRepeats(t *testing.T) {
	for name, tc := range map[string]struct {
		values  []float64
		reason  string
		message string
	}{
		"agree":   {[]float64{100, 101, 99, 100, 102}, ReasonPassed, "5 repeats within 1.1%"},
		"few":     {[]float64{100, 101, 99}, ReasonTooFewRepeats, "set repeats to 5"},
		"spread":  {[]float64{100, 140, 70, 90, 120}, ReasonWideSpread, "26% of their mean"},
		"outlier": {[]float64{100, 101, 99.5, 100.4, 85}, ReasonOutlyingRepeat, "repeat 7 is an outlier"},
	} {
		s, err := statistics.Summarise(tc.values)
		if err != nil {
			t.Fatal(err)
		}
		if f := Repeats(s, []int{1, 2, 3, 4, 7}); f.Reason != tc.reason || !strings.Contains(f.Message, tc.message) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestWorst(t *testing.T) {
	for want, findings := range map[Verdict][]Finding{
		Passed:   nil,
		NotRun:   {{Verdict: Passed}, {Verdict: NotRun}},
		Caution:  {{Verdict: NotRun}, {Verdict: Caution}, {Verdict: Passed}},
		Rejected: {{Verdict: Rejected}, {Verdict: Caution}},
	} {
		if got := Worst(findings); got != want {
			t.Errorf("want %s, got %s", want, got)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 8192: "8Ki", 1536 << 20: "1.5Gi", 3 << 40: "3Ti", 25 << 20: "25Mi"} {
		if got := bytes(n); got != want {
			t.Errorf("%d: %s, not %s", n, got, want)
		}
	}
}
