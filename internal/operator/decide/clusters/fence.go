package clusters

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
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

// Fence keeps an instance stopped while the devices below its volumes are lost.
// Postgres must neither continue with what it has in memory nor start on an incomplete
// pool. Fences of other writers stay.
//
// CloudNativePG does not fail over from a fenced primary
// (internal/controller/cluster_controller.go). So the operator fences a primary only
// once another instance has taken over, or where none can. Until then its pool cannot
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

// FencesLeft says what of the operator's fences stays around a Cluster that it releases, and how
// an administrator lifts it.
func FencesLeft(facts observed.Cluster) (left []string) {
	name := facts.Cluster.Name
	if ours := Fence(facts).Ours; len(ours) > 0 {
		left = append(left, fmt.Sprintf("these instances stay fenced, because their devices were lost and are not back: %s; once they are, run: kubectl cnpg fencing off %s INSTANCE", strings.Join(ours, ", "), name))
	}
	if fencedBySites(facts.Cluster) {
		left = append(left, fmt.Sprintf("all instances stay fenced, because another site wrote too; if this site is the one to write, run: kubectl cnpg fencing off %s '*'", name))
	}
	return left
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

// liftable says whether the instance's devices are all back below an online pool, or
// the instance no longer exists. CloudNativePG names an instance also while it has no pod,
// when its claims are not among the facts.
func liftable(name string, instances []instance, facts observed.Cluster) bool {
	for _, i := range instances {
		if i.name == name {
			return i.condition(facts) == observed.DevicesWhole
		}
	}
	return !slices.Contains(facts.Cluster.Status.InstanceNames, name)
}

// succeeded is the primary that was fenced because no instance could take over, where
// now one can. CloudNativePG does not fail over from it while it is fenced.
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

// awaited: the instance is the primary, and another can take over.
func (i instance) awaited(facts observed.Cluster, all []instance, fenced []string) bool {
	if facts.Cluster.Status.CurrentPrimary != i.name {
		return false
	}
	return slices.ContainsFunc(all, func(other instance) bool {
		return other.name != i.name && !other.unreachable && other.condition(facts) != observed.DevicesLost && !slices.Contains(fenced, other.name)
	})
}
