package schedules

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/decide/matrices"
)

// The limits where the API server has set none.
const (
	keepSuccessful = 3
	keepFailed     = 1
)

// prunable are the ended runs beyond the limits, except those that others still need.
func (p *pass) prunable() []*v1alpha1.PgBenchmark {
	left := map[string]int32{
		v1alpha1.PhaseSucceeded: limit(p.s.Spec.SuccessfulHistoryLimit, keepSuccessful),
		v1alpha1.PhaseFailed:    limit(p.s.Spec.FailedHistoryLimit, keepFailed),
	}
	needed := p.needed()
	var out []*v1alpha1.PgBenchmark
	for _, b := range p.own.ended() {
		left[b.Status.Phase]--
		if left[b.Status.Phase] >= 0 || needed[b.Name] || damaged(b.PgBenchmark) || b.DeletionTimestamp != nil {
			continue
		}
		out = append(out, b.PgBenchmark)
	}
	return out
}

func limit(set *int32, absent int32) int32 {
	if set == nil {
		return absent
	}
	return *set
}

// needed are the names of the baselines of this schedule's next run, and of every
// benchmark of the namespace whose gate has not decided.
func (p *pass) needed() map[string]bool {
	names := map[string]bool{p.decision.Status.Baseline: true}
	for _, b := range p.facts.Benchmarks {
		if b.Spec.Gate != nil && !decided(b) {
			names[b.Spec.Gate.Baseline] = true
		}
	}
	return names
}

// decided says whether a gate has come to its end, and no longer reads the baseline.
func decided(b *v1alpha1.PgBenchmark) bool {
	c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionNotRegressed)
	return c != nil && matrices.Decided(c.Reason)
}

// damaged says whether a check of a run found damage: with it would go the cluster that
// is kept as evidence.
func damaged(b *v1alpha1.PgBenchmark) bool {
	return meta.IsStatusConditionFalse(b.Status.Conditions, v1alpha1.ConditionIntegrityVerified)
}
