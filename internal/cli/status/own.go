package status

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// Runbooks says whether there is a page for a reason.
type Runbooks interface{ Has(reason string) bool }

// Builder of trees.
type Builder struct{ Runbooks Runbooks }

// NotObserved is the reason of an object whose controller has not looked at its spec.
const NotObserved = "NotObserved"

// derived conditions say nothing that the others do not.
var derived = map[string]bool{v1alpha1.ConditionReady: true, v1alpha1.ConditionReconciling: true, v1alpha1.ConditionStalled: true}

// own is an object of one of our kinds, judged by its conditions.
func (b Builder) own(kind string, o metav1.Object, observed int64, conditions []metav1.Condition) Item {
	i := Item{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}
	i.State, i.Reason, i.Message = Judge(o.GetGeneration(), observed, conditions)
	i.Runbook = b.runbook(i.Reason)
	if i.Reason == NotObserved {
		i.Message += " See kubectl pgstorage doctor"
	}
	for _, c := range conditions {
		if derived[c.Type] {
			continue
		}
		row := Condition{Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message}
		if c.Status != metav1.ConditionTrue {
			row.Runbook = b.runbook(c.Reason)
		}
		i.Conditions = append(i.Conditions, row)
	}
	if !o.GetDeletionTimestamp().IsZero() {
		i.Details = append(i.Details, "is being deleted")
	}
	return i
}

func (b Builder) runbook(reason string) string {
	if b.Runbooks == nil || !b.Runbooks.Has(reason) {
		return ""
	}
	return reason
}

// Judge an object of one of our kinds by its generation, the one that its status is
// about, and its conditions.
func Judge(generation, observed int64, conditions []metav1.Condition) (state view.State, reason, message string) {
	ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil:
		return view.Unknown, NotObserved, "nobody has looked at it yet; does its controller run?"
	case observed != generation:
		return view.Waits, NotObserved, fmt.Sprintf("its status is about generation %d, and its spec is generation %d; does its controller run?", observed, generation)
	case ready.Status == metav1.ConditionTrue:
		return view.Ready, ready.Reason, ready.Message
	case meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionStalled):
		return view.Stalled, ready.Reason, ready.Message
	}
	return view.Waits, ready.Reason, ready.Message
}

// missing is an object that is not there.
func missing(kind, namespace, name, why string) Item {
	return Item{Kind: kind, Namespace: namespace, Name: name, State: view.Waits, Reason: "NotFound", Message: why}
}

// unread are lines about what could not be looked at.
func unread(from []snapshot.Unread) []Item {
	var out []Item
	for _, u := range from {
		out = append(out, Item{Kind: u.What, State: view.Unknown, Reason: "NotRead", Message: u.Why})
	}
	return out
}
