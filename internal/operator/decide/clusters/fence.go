package clusters

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

const (
	// AnnotationCNPGFenced lists the instances that CloudNativePG keeps stopped
	// (https://cloudnative-pg.io/documentation/current/fencing/).
	AnnotationCNPGFenced = "cnpg.io/fencedInstances"
	// everyInstance in it is a fence around all, which is never ours.
	everyInstance = "*"
)

// Fencing is what is to be written of fences, and what was changed by it.
type Fencing struct {
	// All fenced instances and, of them, Ours.
	All, Ours []string
	// Fenced and Lifted by this pass.
	Fenced, Lifted []string
	// Problem says why nothing can be fenced.
	Problem string
}

// holds says that an instance is fenced, or will be by this pass.
func (f Fencing) holds(name string) bool {
	return slices.Contains(f.All, name) || slices.Contains(f.All, everyInstance)
}

// Changed says that there is something to write.
func (f Fencing) Changed() bool { return len(f.Fenced)+len(f.Lifted) > 0 }

// Annotations with the fences; nil removes one.
func (f Fencing) Annotations() map[string]any {
	return map[string]any{AnnotationCNPGFenced: list(f.All), naming.AnnotationFenced: list(f.Ours)}
}

func list(names []string) any {
	if len(names) == 0 {
		return nil
	}
	raw, err := json.Marshal(names)
	if err != nil {
		return nil // strings always marshal
	}
	return string(raw)
}

// Fence keeps an instance stopped while the devices beneath its volumes are lost:
// Postgres must neither go on with what it holds in memory nor start on a pool that
// is half there. What others fenced is left to them.
//
// CloudNativePG does not fail over from a primary that is fenced
// (internal/controller/cluster_controller.go), so a primary is fenced only once
// another instance has taken over, or where none can. Until then its pool cannot
// write, so it acknowledges nothing.
func Fence(facts observed.Cluster) Fencing {
	var f Fencing
	if facts.Cluster == nil || facts.Devices == nil {
		return f
	}
	all, err := fenced(facts.Cluster, AnnotationCNPGFenced)
	ours, also := fenced(facts.Cluster, naming.AnnotationFenced)
	if err := errors.Join(err, also); err != nil {
		f.Problem = err.Error()
		return f
	}
	if slices.Contains(all, everyInstance) {
		f.All = all
		return f
	}
	instances := homesOf(facts.Claims)
	for _, i := range instances {
		if i.needsFence(facts, ours) && !slices.Contains(all, i.name) && !i.awaited(facts, instances, all) {
			f.Fenced = append(f.Fenced, i.name)
		}
	}
	f.Lifted = slices.DeleteFunc(slices.Clone(ours), func(name string) bool { return !liftable(name, instances, facts) })
	f.Lifted = append(f.Lifted, succeeded(facts, instances, all, ours, f.Lifted)...)
	gone := func(name string) bool { return slices.Contains(f.Lifted, name) }
	f.All = sorted(slices.DeleteFunc(append(slices.Clone(all), f.Fenced...), gone))
	f.Ours = sorted(slices.DeleteFunc(append(slices.Clone(ours), f.Fenced...), gone))
	return f
}

// needsFence: its devices are lost, or they were, and are not all back.
func (i instance) needsFence(facts observed.Cluster, ours []string) bool {
	switch i.condition(facts) {
	case observed.DevicesLost:
		return true
	case observed.DevicesBetween:
		return slices.Contains(ours, i.name)
	}
	return false
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// liftable: the instance's devices are all back beneath a pool that is online, or the
// instance is no more.
func liftable(name string, instances []instance, facts observed.Cluster) bool {
	for _, i := range instances {
		if i.name == name {
			return i.condition(facts) == observed.DevicesWhole
		}
	}
	return true
}

// succeeded is the primary that was fenced because no instance could take over, and now
// one can: CloudNativePG does not fail over from it while it is fenced.
func succeeded(facts observed.Cluster, instances []instance, all, ours, lifted []string) []string {
	primary := facts.Cluster.Status.CurrentPrimary
	if !slices.Contains(ours, primary) || slices.Contains(lifted, primary) {
		return nil
	}
	heir := func(i instance) bool {
		fenced := slices.Contains(all, i.name) && !slices.Contains(lifted, i.name)
		return i.name != primary && !i.unreachable && i.condition(facts) == observed.DevicesWhole && !fenced
	}
	if slices.ContainsFunc(instances, heir) {
		return []string{primary}
	}
	return nil
}

func fenced(cluster *cnpgv1.Cluster, annotation string) ([]string, error) {
	text := cluster.Annotations[annotation]
	if text == "" {
		return nil, nil
	}
	var names []string
	if err := json.Unmarshal([]byte(text), &names); err != nil {
		return nil, fmt.Errorf("annotation %s of the CloudNativePG Cluster is not a JSON list of names; correct or remove it", annotation)
	}
	return names, nil
}

// instance and the nodes of its volumes.
type instance struct {
	name  string
	nodes []string
	// unreachable: a node of it is not Ready, so that what is known of it may be old.
	unreachable bool
}

func homesOf(claims []observed.Claim) []instance {
	var out []instance
	for _, c := range claims {
		if c.Role != "" {
			continue // of an unknown kind, or a tablespace, which may be on other storage
		}
		node := c.Node
		if node == "" {
			node = c.Home
		}
		i := slices.IndexFunc(out, func(i instance) bool { return i.name == c.Instance })
		if i < 0 {
			out = append(out, instance{name: c.Instance})
			i = len(out) - 1
		}
		if node != "" && !slices.Contains(out[i].nodes, node) {
			out[i].nodes = append(out[i].nodes, node)
		}
		out[i].unreachable = out[i].unreachable || c.Unreachable != ""
	}
	return out
}

// condition of the devices beneath an instance: lost if any are, whole if all are.
func (i instance) condition(facts observed.Cluster) observed.DevicesCondition {
	whole := len(i.nodes) > 0
	for _, n := range i.nodes {
		switch facts.Devices[n].Condition {
		case observed.DevicesLost:
			return observed.DevicesLost
		case observed.DevicesBetween:
			whole = false
		}
	}
	if whole {
		return observed.DevicesWhole
	}
	return observed.DevicesBetween
}

// awaited: the instance is the primary, and another can take over.
func (i instance) awaited(facts observed.Cluster, all []instance, fenced []string) bool {
	if facts.Cluster.Status.CurrentPrimary != i.name {
		return false
	}
	return slices.ContainsFunc(all, func(other instance) bool {
		return other.name != i.name && !other.unreachable && other.condition(facts) != observed.DevicesLost && !slices.Contains(fenced, other.name)
	})
}

// attachedOutcome is the condition VolumesAttached; nil where the devices of the
// profile are no server's.
func attachedOutcome(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) *outcome.Outcome {
	if facts.Cluster == nil || facts.Devices == nil {
		return nil
	}
	f := Fence(facts)
	var a attachment
	for _, i := range homesOf(facts.Claims) {
		a.add(i, facts, i.tell(facts, f, Suspended(cr)))
	}
	o := a.outcome()
	// A mirror serves without some of its devices.
	o.Informative = o.Reason == v1alpha1.ReasonAttaching && len(f.Ours) == 0
	return &o
}

// attachment of the instances' devices, in words of those that are not whole.
type attachment struct {
	// lost, and the first reason of that; manual is set where a person has to act.
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
	return outcome.DoneWith(c, v1alpha1.ReasonDevicesAttached, "every device beneath the volumes is attached")
}

// worst of the instance's nodes: lost before what waits, and that before the others.
func (i instance) worst(facts observed.Cluster) observed.Devices {
	out := observed.Devices{Condition: i.condition(facts)}
	for _, n := range i.nodes {
		if d := facts.Devices[n]; d.Condition == out.Condition && (out.Reason == "" || d.Stalls) {
			out = d
		}
	}
	return out
}

func (i instance) restarts(facts observed.Cluster) bool {
	return !slices.ContainsFunc(i.nodes, func(n string) bool {
		return facts.Devices[n].Condition == observed.DevicesLost && !facts.Devices[n].Restarts
	})
}

// tell how an instance is, and what the agents of its nodes say; nothing of one whose
// devices are whole and that no fence of ours is left on.
func (i instance) tell(facts observed.Cluster, f Fencing, suspended bool) string {
	condition := i.condition(facts)
	if condition == observed.DevicesWhole {
		if suspended && slices.Contains(f.Lifted, i.name) {
			return i.name + " could run again and stays fenced, since spec.suspend is true"
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
		nodes = []string{"its node is not known yet"}
	}
	what := "runs on"
	switch {
	case condition == observed.DevicesLost:
		what = f.lost(i.name, suspended)
	case f.holds(i.name):
		what = "stays fenced until every device is attached and the pool is online"
	case i.worst(facts).Stalls:
		what = "acknowledges nothing until its devices are back, and goes on then"
	}
	return fmt.Sprintf("%s %s (%s)", i.name, what, strings.Join(nodes, "; "))
}

// lost says what becomes of an instance whose devices are lost.
func (f Fencing) lost(name string, suspended bool) string {
	switch {
	case slices.Contains(f.Fenced, name) && suspended:
		return "is to be fenced, and spec.suspend is true"
	case slices.Contains(f.Fenced, name):
		return "is being fenced"
	case f.holds(name):
		return "is fenced"
	case f.Problem != "":
		return "cannot be fenced: " + f.Problem
	}
	return "is the primary and is fenced once another instance has taken over, since CloudNativePG fails over from none that is fenced"
}
