package benchmarks

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// A runner can report a weaker tier than the cluster declares, or that the tier is not
// verified. It cannot raise one.
func TestARunnerOnlyLowersTheTier(t *testing.T) {
	for _, tc := range []struct{ stated, run, want v1alpha1.DurabilityTier }{
		{v1alpha1.DurabilityLocal, "", v1alpha1.DurabilityLocal},
		{v1alpha1.DurabilityLocal, v1alpha1.DurabilityLocal, v1alpha1.DurabilityLocal},
		{v1alpha1.DurabilityLocal, v1alpha1.DurabilityQuorum, v1alpha1.DurabilityLocal},
		{v1alpha1.DurabilityLocal, v1alpha1.DurabilityUnverified, v1alpha1.DurabilityUnverified},
		{v1alpha1.DurabilityLocal, "Perfect", v1alpha1.DurabilityLocal},
		{v1alpha1.DurabilityQuorum, v1alpha1.DurabilityAsync, v1alpha1.DurabilityAsync},
		{v1alpha1.DurabilityAsync, v1alpha1.DurabilityQuorum, v1alpha1.DurabilityAsync},
		{v1alpha1.DurabilityLocal, v1alpha1.DurabilityReadOnly, v1alpha1.DurabilityReadOnly},
		{"", v1alpha1.DurabilityQuorum, ""},
	} {
		b := &v1alpha1.PgBenchmark{Status: v1alpha1.PgBenchmarkStatus{Job: "b", Durability: tc.stated, Run: &v1alpha1.BenchmarkRun{Phase: v1alpha1.PhaseSucceeded, Durability: tc.run}}}
		if got := Status(b, observed.Benchmark{}, outcome.Outcome{Kind: outcome.Wait}, metav1.Time{}).Durability; got != tc.want {
			t.Errorf("stated %q, run %q: got %q, want %q", tc.stated, tc.run, got, tc.want)
		}
		if got := Completion(b, observed.Benchmark{}).Message; !strings.Contains(got, "durability "+string(tc.want)) {
			t.Errorf("stated %q, run %q: %s, want %q", tc.stated, tc.run, got, tc.want)
		}
	}
}

// The tier of a cluster can change while a benchmark waits for its turn. From its Job on
// it is that of the figures.
func TestTheTierFollowsTheClusterUntilTheJob(t *testing.T) {
	async := &v1alpha1.PgStorageCluster{Spec: v1alpha1.PgStorageClusterSpec{Durability: v1alpha1.DurabilityAsync}}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "b"}}
	for name, tc := range map[string]struct {
		status v1alpha1.PgBenchmarkStatus
		facts  observed.Benchmark
		want   v1alpha1.DurabilityTier
	}{
		"new":                     {v1alpha1.PgBenchmarkStatus{}, observed.Benchmark{Target: async}, v1alpha1.DurabilityAsync},
		"waiting":                 {v1alpha1.PgBenchmarkStatus{Durability: v1alpha1.DurabilityQuorum}, observed.Benchmark{Target: async}, v1alpha1.DurabilityAsync},
		"waiting without cluster": {v1alpha1.PgBenchmarkStatus{Durability: v1alpha1.DurabilityQuorum}, observed.Benchmark{}, v1alpha1.DurabilityQuorum},
		"with a Job":              {v1alpha1.PgBenchmarkStatus{Durability: v1alpha1.DurabilityQuorum}, observed.Benchmark{Target: async, Job: job}, v1alpha1.DurabilityQuorum},
		"after its Job":           {v1alpha1.PgBenchmarkStatus{Durability: v1alpha1.DurabilityQuorum, Job: "b"}, observed.Benchmark{Target: async}, v1alpha1.DurabilityQuorum},
		"failed without a Job":    {v1alpha1.PgBenchmarkStatus{Durability: v1alpha1.DurabilityQuorum, Phase: v1alpha1.PhaseFailed}, observed.Benchmark{Target: async}, v1alpha1.DurabilityQuorum},
	} {
		b := &v1alpha1.PgBenchmark{Status: tc.status}
		if got := Status(b, tc.facts, outcome.Outcome{Kind: outcome.Wait}, metav1.Time{}).Durability; got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}
