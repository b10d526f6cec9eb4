package clusters

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// attachedOutcome is the condition VolumesAttached; nil where no server exports the
// devices of the profile.
func attachedOutcome(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) *outcome.Outcome {
	if facts.Cluster == nil || facts.Devices == nil {
		return nil
	}
	f := Fence(facts)
	var a attachment
	for _, i := range homesOf(facts.Claims) {
		a.add(i, facts, i.describe(facts, f, Suspended(cr)))
	}
	o := a.outcome()
	// A mirror serves without some of its devices.
	o.Informative = o.Reason == v1alpha1.ReasonAttaching && len(f.Ours) == 0
	return &o
}

// attachment of the instances' devices, in words of those that are not whole.
type attachment struct {
	// lost, and the first reason of that; manual is set where an administrator has to
	// act.
	lost   []string
	reason string
	manual bool
	// stalled wait for a store, and the first reason of that; the others are between.
	stalled, between []string
	waits            string
}

func (a *attachment) add(i instance, facts observed.Cluster, text string) {
	switch d := i.worst(facts); {
	case d.Condition == observed.DevicesLost:
		a.lost, a.reason = append(a.lost, text), cmp.Or(a.reason, d.Reason)
		a.manual = a.manual || !i.restarts(facts)
	case d.Condition == observed.DevicesBetween && d.Stalls:
		a.stalled, a.waits = append(a.stalled, text), cmp.Or(a.waits, d.Reason)
	case text != "":
		a.between = append(a.between, text)
	}
}

func (a *attachment) outcome() outcome.Outcome {
	const c = v1alpha1.ConditionVolumesAttached
	others := slices.Concat(a.stalled, a.between)
	switch {
	case len(a.lost) > 0 && !a.manual:
		return outcome.WaitFor(c, a.reason, strings.Join(a.lost, "; "))
	case len(a.lost) > 0:
		return outcome.InvalidBecause(c, a.reason, strings.Join(a.lost, "; "))
	case len(a.stalled) > 0:
		return outcome.WaitFor(c, a.waits, strings.Join(others, "; "))
	case len(others) > 0:
		return outcome.WaitFor(c, v1alpha1.ReasonAttaching, strings.Join(others, "; "))
	}
	return outcome.DoneWith(c, v1alpha1.ReasonDevicesAttached, msgAttached)
}

// describe an instance, and what the agents of its nodes report. It is empty for an
// instance with whole devices and without our fence.
func (i instance) describe(facts observed.Cluster, f Fencing, suspended bool) string {
	condition := i.condition(facts)
	if condition == observed.DevicesWhole {
		if suspended && slices.Contains(f.Lifted, i.name) {
			return i.name + msgStaysFencedSuspended
		}
		return ""
	}
	var nodes []string
	for _, n := range i.nodes {
		if d := facts.Devices[n]; d.Condition == condition {
			nodes = append(nodes, n+": "+d.Message)
		}
	}
	if len(i.nodes) == 0 {
		nodes = []string{msgNodeUnknown}
	}
	what := msgRunsOn
	switch {
	case condition == observed.DevicesLost:
		what = f.lost(i.name, suspended)
	case f.holds(i.name):
		what = msgStaysFenced
	case i.worst(facts).Stalls:
		what = msgStalled
	}
	return fmt.Sprintf("%s %s (%s)", i.name, what, strings.Join(nodes, "; "))
}

// lost says what becomes of an instance whose devices are lost.
func (f Fencing) lost(name string, suspended bool) string {
	switch {
	case slices.Contains(f.Fenced, name) && suspended:
		return msgFencePending
	case slices.Contains(f.Fenced, name):
		return msgBeingFenced
	case f.holds(name):
		return msgFenced
	case f.Problem != "":
		return msgCannotFence + f.Problem
	}
	return msgPrimaryNotFenced
}
