// Package status turns outcomes into conditions and writes the status of an object.
// Nothing else does. A reconcile writes a status at most once, and only when it
// differs from the one that it read.
package status

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

// maxMessage is the length of a condition's message in bytes. The API server accepts
// 32768, and the conditions of one refused spec would fill that several times.
const maxMessage = 4096

// Conditions returns the conditions of an object, derived from its outcomes. It keeps
// the transition time of each condition in old whose status is the same.
func Conditions(old []metav1.Condition, generation int64, now metav1.Time, outcomes outcome.Set) []metav1.Condition {
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

// Condition returns the condition of one outcome without an observed generation. Use it
// for an object whose other conditions have another writer.
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

// summary returns Ready and, where it is False, Stalled or Reconciling with the same
// reason.
func summary(outcomes outcome.Set, generation int64) []metav1.Condition {
	worst, found := outcomes.Worst()
	if !found {
		return []metav1.Condition{{
			Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonReady,
			Message: "everything is as declared", ObservedGeneration: generation,
		}}
	}
	ready := condition(worst, generation)
	ready.Type, ready.Status = v1alpha1.ConditionReady, metav1.ConditionFalse
	also := ready
	also.Type, also.Status = v1alpha1.ConditionReconciling, metav1.ConditionTrue
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
