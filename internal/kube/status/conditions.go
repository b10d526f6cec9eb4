// Package status is the one place that turns outcomes into conditions and writes
// a status, at most once a pass and only when it differs.
package status

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

// maxMessage of a condition in bytes. The API server takes 32768, which a refused
// spec of a tenant would fill, several times over.
const maxMessage = 4096

// Conditions derives the conditions of an object from the outcomes of a pass.
// Times of conditions that did not change are kept from old.
func Conditions(old []metav1.Condition, generation int64, now metav1.Time, outcomes []outcome.Outcome) []metav1.Condition {
	conditions := make([]metav1.Condition, 0, len(outcomes)+3)
	for _, o := range outcomes {
		conditions = append(conditions, condition(o, generation))
	}
	conditions = append(conditions, summary(outcomes, generation)...)
	for i := range conditions {
		keepTime(&conditions[i], old, now)
	}
	return conditions
}

// Condition of one outcome that is about no generation of a spec, for an object
// whose other conditions are somebody else's.
func Condition(old []metav1.Condition, now metav1.Time, o outcome.Outcome) metav1.Condition {
	c := condition(o, 0)
	keepTime(&c, old, now)
	return c
}

func condition(o outcome.Outcome, generation int64) metav1.Condition {
	c := metav1.Condition{Type: o.Condition, Status: metav1.ConditionFalse, Reason: o.Reason, Message: excerpt.Truncate(o.Message, maxMessage), ObservedGeneration: generation}
	switch {
	case o.Unknown:
		c.Status = metav1.ConditionUnknown
	case o.Kind == outcome.Done:
		c.Status = metav1.ConditionTrue
	}
	return c
}

// summary makes Ready and, while they hold, Stalled or Reconciling. What needs a
// person is named before what waits.
func summary(outcomes []outcome.Outcome, generation int64) []metav1.Condition {
	worst := outcome.Outcome{Reason: v1alpha1.ReasonReady, Message: "everything is as declared"}
	for _, o := range outcomes {
		if !o.Informative && o.Kind > worst.Kind {
			worst = o
		}
	}
	ready := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: worst.Reason, Message: excerpt.Truncate(worst.Message, maxMessage), ObservedGeneration: generation}
	if worst.Kind == outcome.Done {
		return []metav1.Condition{ready}
	}
	ready.Status = metav1.ConditionFalse
	also := ready
	also.Status = metav1.ConditionTrue
	also.Type = v1alpha1.ConditionReconciling
	if worst.Kind == outcome.Invalid {
		also.Type = v1alpha1.ConditionStalled
	}
	return []metav1.Condition{ready, also}
}

func keepTime(c *metav1.Condition, old []metav1.Condition, now metav1.Time) {
	before := meta.FindStatusCondition(old, c.Type)
	if before != nil && before.Status == c.Status && !before.LastTransitionTime.IsZero() {
		c.LastTransitionTime = before.LastTransitionTime
		return
	}
	c.LastTransitionTime = now
}
