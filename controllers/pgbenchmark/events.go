package pgbenchmark

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// emitProgress emits events of the end of a matrix, of runs that failed, and of the gate.
func (r *Reconciler) emitProgress(b *v1alpha1.PgBenchmark, have, want v1alpha1.PgBenchmarkStatus) {
	for _, failed := range newFailures(have.Matrix, want.Matrix) {
		r.Events.Eventf(b, nil, corev1.EventTypeWarning, "RunFailed", "Benchmark", "%s", failed)
	}
	if want.CompletionTime != nil && have.CompletionTime == nil {
		r.emitCondition(b, meta.FindStatusCondition(want.Conditions, v1alpha1.ConditionComplete), want.Phase)
	}
	r.emitUnreliable(b, have, want)
	before := meta.FindStatusCondition(have.Conditions, v1alpha1.ConditionNotRegressed)
	after := meta.FindStatusCondition(want.Conditions, v1alpha1.ConditionNotRegressed)
	if after != nil && (before == nil || before.Reason != after.Reason) {
		r.emitCondition(b, after, after.Reason)
	}
}

// emitUnreliable emits one event when Believable becomes False.
func (r *Reconciler) emitUnreliable(b *v1alpha1.PgBenchmark, have, want v1alpha1.PgBenchmarkStatus) {
	after := meta.FindStatusCondition(want.Conditions, v1alpha1.ConditionBelievable)
	if after != nil && after.Status == metav1.ConditionFalse && !meta.IsStatusConditionFalse(have.Conditions, v1alpha1.ConditionBelievable) {
		r.emitCondition(b, after, after.Reason)
	}
}

func (r *Reconciler) emitCondition(b *v1alpha1.PgBenchmark, c *metav1.Condition, reason string) {
	if c == nil {
		return
	}
	kind := corev1.EventTypeNormal
	if c.Status != metav1.ConditionTrue {
		kind = corev1.EventTypeWarning
	}
	r.Events.Eventf(b, nil, kind, reason, "Benchmark", "%s", c.Message)
}

// newFailures returns the failed runs that want has and have does not.
func newFailures(have, want *v1alpha1.MatrixStatus) []string {
	known := map[string]bool{}
	var all []string
	each := func(m *v1alpha1.MatrixStatus, see func(key, message string)) {
		if m == nil {
			return
		}
		for _, v := range m.Variants {
			for _, run := range v.Runs {
				if run.Reason != "" {
					key := fmt.Sprintf("round %d, %s", run.Repeat, v.Name)
					see(key, key+": "+run.Reason+": "+run.Message)
				}
			}
		}
	}
	each(have, func(key, _ string) { known[key] = true })
	each(want, func(key, message string) {
		if !known[key] {
			all = append(all, message)
		}
	})
	return all
}
