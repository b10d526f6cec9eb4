package decide

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

// Changes that make the pool's properties and datasets as declared.
type Changes struct {
	// Pool properties to set.
	Pool map[string]string
	// Datasets to make or to change, parents first.
	Datasets []DatasetChange
	// ARCMax to set, in bytes; 0: none.
	ARCMax uint64
	// Refused says in words which values this version of ZFS does not take, or another
	// PgNodeStorage of the node contradicts. They are in none of the changes.
	Refused []string
	// Drift describes manual changes, to repair or to report.
	Drift []string
}

// DatasetChange makes a dataset, or sets properties of one that is there.
type DatasetChange struct {
	Name       string
	Create     bool
	Properties map[string]string
}

// None says that everything is as declared.
func (c Changes) None() bool { return len(c.Pool) == 0 && len(c.Datasets) == 0 && c.ARCMax == 0 }

// parent keeps a parent dataset from being mounted: it only hands down properties.
var parent = map[string]string{"canmount": "off", "mountpoint": "none"}

// Properties compares what is declared with what was read. A property is drift if it differs
// from what was applied for this generation.
func Properties(s *v1alpha1.PgNodeStorage, seen Seen) Changes {
	out := Changes{Pool: map[string]string{}}
	for _, p := range s.Spec.Pool.Properties {
		if have := seen.Pool[p.Name].Value; have != p.Value {
			out.Pool[p.Name] = p.Value
			out.drifts(differs(s.Spec.Pool.Name, p.Name, p.Value, have))
		}
	}
	for _, want := range s.Spec.Datasets {
		out.dataset(out.accepted(want, seen.Version), seen.dataset(want.Name))
	}
	out.arc(s.Spec.ARCMax, seen.ARC, seen.OlderARC)
	if !applied(s) {
		out.Drift = nil
	}
	return out
}

func (c *Changes) drifts(words string) { c.Drift = append(c.Drift, words) }

func (c *Changes) dataset(want v1alpha1.NodeDataset, have *zfs.Dataset) {
	if have == nil {
		c.Datasets = append(c.Datasets, DatasetChange{Name: want.Name, Create: true, Properties: created(want)})
		c.drifts(want.Name + " does not exist")
		return
	}
	set := map[string]string{}
	for _, p := range want.Properties {
		if !asDeclared(p, have.Properties[p.Name]) {
			set[p.Name] = p.Value
			c.drifts(differs(want.Name, p.Name, p.Value, inWords(p, have.Properties[p.Name])))
		}
	}
	if len(set) > 0 {
		c.Datasets = append(c.Datasets, DatasetChange{Name: want.Name, Properties: set})
	}
}

// accepted leaves out the properties whose values this version of ZFS does not take:
// one of them would keep zfs from setting any.
func (c *Changes) accepted(d v1alpha1.NodeDataset, v zfs.Versions) v1alpha1.NodeDataset {
	var kept []v1alpha1.ZFSProperty
	for _, p := range d.Properties {
		value, err := zfs.Canonical(p.Name, p.Value)
		if err == nil {
			err = zfs.Supports(v.Userland, p.Name, value)
		}
		if err == nil {
			err = zfs.Supports(v.Kernel, p.Name, value)
		}
		if err != nil {
			c.Refused = append(c.Refused, fmt.Sprintf("%s: %v", d.Name, err))
			continue
		}
		kept = append(kept, p)
	}
	d.Properties = kept
	return d
}

func created(want v1alpha1.NodeDataset) map[string]string {
	set := maps.Clone(parent)
	for _, p := range want.Properties {
		set[p.Name] = p.Value
	}
	return set
}

// asDeclared: the value is right and the dataset's own, so that a change further
// up does not reach it. Properties that are not inherited have no such way.
func asDeclared(want v1alpha1.ZFSProperty, have zfs.Property) bool {
	if !zfs.Same(want.Name, want.Value, have.Value) {
		return false
	}
	return !strings.HasPrefix(have.Source, "inherited")
}

// inWords describes what was read. A right value that the dataset does not set itself comes
// with its source.
func inWords(want v1alpha1.ZFSProperty, have zfs.Property) string {
	if zfs.Same(want.Name, want.Value, have.Value) {
		return fmt.Sprintf("%s only as %s", have.Value, have.Source)
	}
	return have.Value
}

// applied: this generation was once found as declared.
func applied(s *v1alpha1.PgNodeStorage) bool {
	c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionPropertiesApplied)
	return c != nil && c.ObservedGeneration == s.Generation && (c.Reason == v1alpha1.ReasonApplied || c.Reason == v1alpha1.ReasonPropertyDrift)
}

func differs(object, property, want, have string) string {
	if have == "" {
		have = "nothing"
	}
	return fmt.Sprintf("%s of %s is %s, declared is %s", property, object, have, want)
}

// PropertiesOutcome returns the condition PropertiesApplied. Failed is the node's answer to a
// change that it refused, if any. While the pool cannot be read, the reason stays as it was:
// later it distinguishes drift from a first application.
func PropertiesOutcome(s *v1alpha1.PgNodeStorage, pool outcome.Outcome, changes Changes, failed error) outcome.Outcome {
	const c = v1alpha1.ConditionPropertiesApplied
	switch {
	case pool.Kind != outcome.Done:
		o := outcome.WaitFor(c, v1alpha1.ReasonNotReadBack, msgPropertiesUnread)
		o.Unknown = true
		if applied(s) {
			o.Reason = meta.FindStatusCondition(s.Status.Conditions, c).Reason
		}
		return o
	case failed != nil:
		return outcome.InvalidBecause(c, v1alpha1.ReasonPropertyRefused, fmt.Sprintf(msgPropertiesFailed, strings.ReplaceAll(failed.Error(), "\n", "; ")))
	case len(changes.Refused) > 0:
		return outcome.InvalidBecause(c, v1alpha1.ReasonPropertyRefused, fmt.Sprintf(msgPropertiesRefused, strings.Join(changes.Refused, "; ")))
	case changes.None():
		return outcome.DoneWith(c, v1alpha1.ReasonApplied, fmt.Sprintf(msgPropertiesApplied, declared(s)))
	case s.Spec.DriftPolicy == v1alpha1.DriftReport && len(changes.Drift) > 0:
		return outcome.InvalidBecause(c, v1alpha1.ReasonPropertyDrift, fmt.Sprintf(msgPropertiesDrift, strings.Join(slices.Sorted(slices.Values(changes.Drift)), "; ")))
	}
	return outcome.WaitFor(c, v1alpha1.ReasonProgressing, msgPropertiesSetting)
}

func declared(s *v1alpha1.PgNodeStorage) int {
	n := len(s.Spec.Pool.Properties)
	for _, d := range s.Spec.Datasets {
		n += len(d.Properties)
	}
	if s.Spec.ARCMax != nil {
		n++
	}
	return n
}
