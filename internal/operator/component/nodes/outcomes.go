package nodes

import (
	"fmt"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Outcome is the condition NodesReady. Ready says in its message what was read back, of
// how many nodes.
func Outcome(p *v1alpha1.PgStorageProfile, nodes []Verdict, ready string) outcome.Outcome {
	const c = v1alpha1.ConditionNodesReady
	if !slices.ContainsFunc(nodes, func(v Verdict) bool { return v.Selected }) {
		return outcome.WaitFor(c, v1alpha1.ReasonNoNodeSelected, fmt.Sprintf("spec.nodeSelector: no node has the labels %s; label one with kubectl label node NAME %s", selectorText(p, ","), selectorText(p, " ")))
	}
	var current []Verdict
	for _, v := range nodes {
		current = append(current, v.now())
	}
	if o, bad := Worst(c, current, Verdict.StorageFails); bad {
		return o
	}
	return outcome.DoneWith(c, v1alpha1.ReasonNodesReady, fmt.Sprintf("%s on %d of %d nodes", ready, len(nodes), len(nodes)))
}

// Worst joins what is wrong with nodes. A node that needs an administrator outranks
// those that wait. These outrank unreachable nodes, because volumes can be provisioned
// on the others.
func Worst(condition string, nodes []Verdict, wrong func(Verdict) bool) (outcome.Outcome, bool) {
	o := outcome.Outcome{Condition: condition}
	var messages []string
	for _, v := range nodes {
		if !wrong(v) {
			continue
		}
		if o.Reason == "" || v.Kind > o.Kind || v.Kind == o.Kind && outOfReach(o.Reason) {
			o.Kind, o.Reason = v.Kind, v.Reason
		}
		messages = append(messages, v.Name+": "+v.Message)
	}
	o.Message = fmt.Sprintf("%d of %d nodes are not ready: %s", len(messages), len(nodes), strings.Join(messages, "; "))
	return o, len(messages) > 0
}

func outOfReach(reason string) bool {
	return reason == v1alpha1.ReasonNodeNotReady || reason == v1alpha1.ReasonNodeNotFound
}

func selectorText(p *v1alpha1.PgStorageProfile, separator string) string {
	var out []string
	for k, v := range p.Spec.NodeSelector {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return strings.Join(out, separator)
}

// ClassOutcome says in a condition whether the classes that a profile makes exist.
func ClassOutcome(condition, profile string, names []string, facts observed.Profile) outcome.Outcome {
	var missing []string
	for _, name := range names {
		class := facts.Classes[name]
		switch {
		case class == nil:
			missing = append(missing, name)
		case !Owned(class, profile):
			return NotOwned(condition, name)
		}
	}
	if len(missing) > 0 {
		return outcome.WaitFor(condition, v1alpha1.ReasonStorageClassNotFound, fmt.Sprintf("StorageClass %s is made once a node is ready", strings.Join(missing, ", ")))
	}
	return outcome.DoneWith(condition, v1alpha1.ReasonStorageClassApplied, "every StorageClass of the profile exists")
}

// Owned says whether a class is the profile's own.
func Owned(class *storagev1.StorageClass, profile string) bool {
	return class.Labels[naming.LabelProfile] == profile && class.Labels[naming.LabelManagedBy] == naming.ManagedBy
}

// NotOwned says in a condition that a class belongs to another owner.
func NotOwned(condition, name string) outcome.Outcome {
	return outcome.InvalidBecause(condition, v1alpha1.ReasonStorageClassNotOwned, fmt.Sprintf("StorageClass %s exists and is not this profile's; delete it if nothing needs it, or create the profile under another name", name))
}
