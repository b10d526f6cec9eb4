package status

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// Runbooks reports whether a reason has a runbook.
type Runbooks interface{ Has(reason string) bool }

// Builder builds trees.
type Builder struct{ Runbooks Runbooks }

// NotObserved is the reason of an object whose controller has not observed its spec.
const NotObserved = "NotObserved"

// derived conditions summarise the other conditions.
var derived = map[string]bool{v1alpha1.ConditionReady: true, v1alpha1.ConditionReconciling: true, v1alpha1.ConditionStalled: true}

// own returns the tree of an object of pgstorage, with the state that its conditions give.
func (b Builder) own(kind string, o metav1.Object, observed int64, conditions []metav1.Condition) Tree {
	i := Tree{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}
	i.State, i.Reason, i.Message = StateOf(o.GetGeneration(), observed, conditions)
	i.Runbook = b.runbook(i.Reason)
	if i.Reason == NotObserved {
		i.Message += "; check with kubectl pgstorage doctor"
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
		i.Details = append(i.Details, "deleting")
	}
	return i
}

func (b Builder) runbook(reason string) string {
	if b.Runbooks == nil || !b.Runbooks.Has(reason) {
		return ""
	}
	return reason
}

// StateOf returns the state of an object of pgstorage, and its reason and message, from
// its generation, its observed generation and its conditions.
func StateOf(generation, observed int64, conditions []metav1.Condition) (state view.State, reason, message string) {
	ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil:
		return view.Unknown, NotObserved, "its controller has not observed it yet"
	case observed != generation:
		return view.Waiting, NotObserved, fmt.Sprintf("its controller has observed generation %d, and the spec is at generation %d", observed, generation)
	case ready.Status == metav1.ConditionTrue:
		return view.Ready, ready.Reason, ready.Message
	case meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionStalled):
		return view.Stalled, ready.Reason, ready.Message
	}
	return view.Waiting, ready.Reason, ready.Message
}

// missing returns an object that does not exist.
func missing(kind, namespace, name, why string) Tree {
	return Tree{Kind: kind, Namespace: namespace, Name: name, State: view.Waiting, Reason: "NotFound", Message: why}
}

// orNotRead returns a missing object as one that could not be read, if what is among those.
func (i Tree) orNotRead(from []snapshot.Unread, what string) Tree {
	for _, u := range from {
		if u.What == what {
			i.State, i.Reason, i.Message = view.Unknown, notRead, u.Why
		}
	}
	return i
}

// notRead is the reason of an object that could not be read.
const notRead = "NotRead"

// unread returns the objects that could not be read, except those that the tree shows by
// their names.
func unread(from []snapshot.Unread, shown ...string) []Tree {
	var out []Tree
	for _, u := range from {
		if !slices.Contains(shown, u.What) {
			out = append(out, Tree{Kind: u.What, State: view.Unknown, Reason: notRead, Message: u.Why})
		}
	}
	return out
}
