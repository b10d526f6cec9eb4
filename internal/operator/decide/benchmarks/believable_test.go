package benchmarks

import (
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

func finding(check, verdict, reason string, runs int32) v1alpha1.BenchmarkFinding {
	return v1alpha1.BenchmarkFinding{Check: check, Verdict: verdict, Reason: reason, Message: "seen; do this", Runs: runs}
}

func TestBelievable(t *testing.T) {
	throttled := finding("Throttling", "Rejected", v1alpha1.ReasonPodThrottled, 2)
	stolen := finding("Neighbours", "Rejected", v1alpha1.ReasonProcessorStolen, 1)
	flush, warm := finding("Flush", "NotRun", "NotObserved", 2), finding("Dataset", "Caution", "DatasetInMemory", 2)
	result := func(clients, rejected int32, findings ...v1alpha1.BenchmarkFinding) v1alpha1.BenchmarkResult {
		return v1alpha1.BenchmarkResult{Clients: clients, TPS: "1", TPSOfRuns: []string{"1", "2"}, Rejected: rejected, Passed: []string{"Clock"}, Findings: findings}
	}
	for name, tc := range map[string]struct {
		results []v1alpha1.BenchmarkResult
		kind    outcome.Kind
		unknown bool
		reason  string
		says    []string
	}{
		"no result":            {nil, outcome.Wait, true, v1alpha1.ReasonNotRun, nil},
		"of an older runner":   {[]v1alpha1.BenchmarkResult{{Clients: 1, TPS: "1"}}, outcome.Wait, true, v1alpha1.ReasonNotRun, nil},
		"nothing found":        {[]v1alpha1.BenchmarkResult{result(1, 0)}, outcome.Done, false, v1alpha1.ReasonBelievable, nil},
		"not all was observed": {[]v1alpha1.BenchmarkResult{result(1, 0, flush), result(4, 0, flush)}, outcome.Done, false, v1alpha1.ReasonPartlyChecked, []string{"not observed: Flush"}},
		"cautions":             {[]v1alpha1.BenchmarkResult{result(1, 0, flush, warm)}, outcome.Done, false, v1alpha1.ReasonCautions, []string{"DatasetInMemory", "not observed: Flush"}},
		"limited": {
			[]v1alpha1.BenchmarkResult{result(1, 0, flush, finding("Throttling", "Caution", "CPULimitReached", 2))}, outcome.Done, false, v1alpha1.ReasonCautions,
			[]string{"CPULimitReached", "the CPU limit that the cluster declares sets the rate", "do not measure the storage"},
		},
		"some runs rejected": {[]v1alpha1.BenchmarkResult{result(1, 1, stolen)}, outcome.Done, false, v1alpha1.ReasonCautions, []string{"1 rejected runs", "ProcessorStolen in 1 of 2 runs"}},
		"all rejected": {
			[]v1alpha1.BenchmarkResult{result(1, 1, stolen), result(4, 2, warm, throttled)}, outcome.Invalid, false, v1alpha1.ReasonPodThrottled,
			[]string{"with 4 clients: PodThrottled: seen; do this"},
		},
	} {
		b := &v1alpha1.PgBenchmark{Status: v1alpha1.PgBenchmarkStatus{Run: &v1alpha1.BenchmarkRun{Results: tc.results}}}
		o := Believable(b)
		if o.Kind != tc.kind || o.Unknown != tc.unknown || o.Reason != tc.reason || !o.Informative || o.Message == "" {
			t.Errorf("%s: %+v", name, o)
		}
		for _, words := range tc.says {
			if !strings.Contains(o.Message, words) {
				t.Errorf("%s: %q is not in %s", name, words, o.Message)
			}
		}
	}
	if o := Believable(&v1alpha1.PgBenchmark{}); !o.Unknown {
		t.Errorf("%+v", o)
	}
}
