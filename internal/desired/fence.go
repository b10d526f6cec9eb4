package desired

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/naming"
	"github.com/pgstorage/pgstorage/internal/seen"
	"github.com/pgstorage/pgstorage/internal/state"
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
func Fence(facts seen.Cluster) Fencing {
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
		if i.condition(facts) == state.DevicesLost && !slices.Contains(all, i.name) && !i.awaited(facts, instances, all) {
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

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// liftable: the instance's devices are all back beneath a pool that is online, or the
// instance is no more.
func liftable(name string, instances []instance, facts seen.Cluster) bool {
	for _, i := range instances {
		if i.name == name {
			return i.condition(facts) == state.DevicesWhole
		}
	}
	return true
}

// succeeded is the primary that was fenced because no instance could take over, and now
// one can: CloudNativePG does not fail over from it while it is fenced.
func succeeded(facts seen.Cluster, instances []instance, all, ours, lifted []string) []string {
	primary := facts.Cluster.Status.CurrentPrimary
	if !slices.Contains(ours, primary) || slices.Contains(lifted, primary) {
		return nil
	}
	heir := func(i instance) bool {
		fenced := slices.Contains(all, i.name) && !slices.Contains(lifted, i.name)
		return i.name != primary && i.condition(facts) == state.DevicesWhole && !fenced
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
}

func homesOf(claims []state.Claim) []instance {
	var out []instance
	for _, c := range claims {
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
	}
	return out
}

// condition of the devices beneath an instance: lost if any are, whole if all are.
func (i instance) condition(facts seen.Cluster) state.DevicesCondition {
	whole := len(i.nodes) > 0
	for _, n := range i.nodes {
		switch facts.Devices[n].Condition {
		case state.DevicesLost:
			return state.DevicesLost
		case state.DevicesBetween:
			whole = false
		}
	}
	if whole {
		return state.DevicesWhole
	}
	return state.DevicesBetween
}

// awaited: the instance is the primary, and another can take over.
func (i instance) awaited(facts seen.Cluster, all []instance, fenced []string) bool {
	if facts.Cluster.Status.CurrentPrimary != i.name {
		return false
	}
	return slices.ContainsFunc(all, func(other instance) bool {
		return other.name != i.name && other.condition(facts) != state.DevicesLost && !slices.Contains(fenced, other.name)
	})
}

// attachedOutcome is the condition VolumesAttached; nil where the devices of the
// profile are no server's.
func attachedOutcome(cr *v1alpha1.PgStorageCluster, facts seen.Cluster) *state.Outcome {
	if facts.Cluster == nil || facts.Devices == nil {
		return nil
	}
	f := Fence(facts)
	var lost, between []string
	restarts := true
	for _, i := range homesOf(facts.Claims) {
		switch i.condition(facts) {
		case state.DevicesLost:
			lost = append(lost, i.tell(facts, f, Suspended(cr)))
			restarts = restarts && i.restarts(facts)
		case state.DevicesBetween:
			between = append(between, i.tell(facts, f, Suspended(cr)))
		}
	}
	o := attachment(lost, between, restarts)
	if o.Reason == v1alpha1.ReasonAttaching {
		// A mirror serves without some of its devices.
		o.Informative = len(f.Ours) == 0
	}
	return &o
}

func attachment(lost, between []string, restarts bool) state.Outcome {
	const c = v1alpha1.ConditionVolumesAttached
	switch {
	case len(lost) > 0 && restarts:
		return state.WaitFor(c, v1alpha1.ReasonServerLost, strings.Join(lost, "; "))
	case len(lost) > 0:
		return state.InvalidBecause(c, v1alpha1.ReasonServerLost, strings.Join(lost, "; "))
	case len(between) > 0:
		return state.WaitFor(c, v1alpha1.ReasonAttaching, strings.Join(between, "; "))
	}
	return state.DoneWith(c, v1alpha1.ReasonDevicesAttached, "every device beneath the volumes is attached")
}

func (i instance) restarts(facts seen.Cluster) bool {
	return !slices.ContainsFunc(i.nodes, func(n string) bool {
		return facts.Devices[n].Condition == state.DevicesLost && !facts.Devices[n].Restarts
	})
}

// tell how an instance is, and what the agents of its nodes say.
func (i instance) tell(facts seen.Cluster, f Fencing, suspended bool) string {
	condition := i.condition(facts)
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
	case condition == state.DevicesLost:
		what = f.lost(i.name, suspended)
	case f.holds(i.name):
		what = "stays fenced until every device is attached and the pool is online"
	}
	return fmt.Sprintf("%s %s (%s)", i.name, what, strings.Join(nodes, "; "))
}

// lost says what becomes of an instance whose devices are lost.
func (f Fencing) lost(name string, suspended bool) string {
	switch {
	case slices.Contains(f.Fenced, name) && suspended:
		return "is to be fenced, and spec.suspend is true"
	case f.holds(name):
		return "is fenced"
	case f.Problem != "":
		return "cannot be fenced: " + f.Problem
	}
	return "is the primary and is fenced once another instance has taken over, since CloudNativePG fails over from none that is fenced"
}
