package benchmarks

import (
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/comparison"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/pgbench"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Status returns the status of a benchmark without conditions, and without run, which the
// runner writes.
func Status(b *v1alpha1.PgBenchmark, facts observed.Benchmark, completion outcome.Outcome, now metav1.Time) v1alpha1.PgBenchmarkStatus {
	s := v1alpha1.PgBenchmarkStatus{
		ObservedGeneration: b.Generation,
		Job:                b.Status.Job,
		Durability:         b.Status.Durability,
		CompletionTime:     b.Status.CompletionTime,
		Phase:              phase(b, facts, completion),
	}
	if facts.Job != nil {
		s.Job = facts.Job.Name
	}
	if facts.Target != nil && (s.Durability == "" || unstarted(b, facts)) {
		s.Durability = pgbench.Tier(facts.Target)
	}
	if b.Status.Run != nil {
		s.BestTPS = bestTPS(b.Status.Run)
		s.Durability = verified(s.Durability, b.Status.Run.Durability)
	}
	if s.CompletionTime == nil && (s.Phase == v1alpha1.PhaseSucceeded || s.Phase == v1alpha1.PhaseFailed) {
		s.CompletionTime = &now
	}
	return s
}

// unstarted reports whether a benchmark has no Job yet. Until then its tier follows its
// cluster, whose owner can change it while the benchmark waits for its turn.
func unstarted(b *v1alpha1.PgBenchmark, facts observed.Benchmark) bool {
	return b.Status.Job == "" && facts.Job == nil && !Ended(b)
}

// verified returns the tier of a benchmark: the weaker of the cluster's and the runner's.
// A runner can only lower it.
func verified(stated, run v1alpha1.DurabilityTier) v1alpha1.DurabilityTier {
	tiers := comparison.Tiers()
	if stated == "" || slices.Index(tiers, run) <= slices.Index(tiers, stated) {
		return stated
	}
	return run
}

func phase(b *v1alpha1.PgBenchmark, facts observed.Benchmark, completion outcome.Outcome) string {
	switch {
	case Ended(b):
		return b.Status.Phase
	case completion.Kind == outcome.Done:
		return v1alpha1.PhaseSucceeded
	case completion.Kind == outcome.Invalid:
		return v1alpha1.PhaseFailed
	case b.Status.Run != nil && b.Status.Run.Phase != "":
		return b.Status.Run.Phase
	case facts.Role != nil || facts.Job != nil:
		return v1alpha1.PhasePreparing
	}
	return v1alpha1.PhasePending
}

// bestTPS is the highest median over the client counts.
func bestTPS(run *v1alpha1.BenchmarkRun) string {
	best, highest := "", -1.0
	for _, r := range run.Results {
		if v, err := strconv.ParseFloat(r.TPS, 64); err == nil && v > highest {
			best, highest = r.TPS, v
		}
	}
	return best
}
