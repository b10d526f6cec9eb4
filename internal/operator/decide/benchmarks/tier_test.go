package benchmarks

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// A runner can say that the tier is not verified, and can raise none.
func TestARunnerOnlyLowersTheTier(t *testing.T) {
	for run, want := range map[v1alpha1.DurabilityTier]v1alpha1.DurabilityTier{
		"": v1alpha1.DurabilityLocal, v1alpha1.DurabilityLocal: v1alpha1.DurabilityLocal,
		v1alpha1.DurabilityQuorum: v1alpha1.DurabilityLocal, v1alpha1.DurabilityUnverified: v1alpha1.DurabilityUnverified,
	} {
		b := &v1alpha1.PgBenchmark{Status: v1alpha1.PgBenchmarkStatus{Durability: v1alpha1.DurabilityLocal, Run: &v1alpha1.BenchmarkRun{Durability: run}}}
		if got := Status(b, observed.Benchmark{}, outcome.Outcome{Kind: outcome.Wait}, metav1.Time{}).Durability; got != want {
			t.Errorf("run says %q: %s, want %s", run, got, want)
		}
	}
}
