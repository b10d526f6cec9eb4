package explain

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/admit"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// Reference describes the fields of the CRDs.
type Reference interface {
	Field(gvk schema.GroupVersionKind, path ...string) (admit.Field, bool)
}

// Property is a property of a pool or dataset.
type Property struct {
	// Of is the pool or dataset.
	Of   string `json:"of"`
	Name string `json:"name"`
	// Value is the desired value, in the exact form of ZFS: sizes in bytes.
	Value string `json:"value"`
	// ReadBack is the value that the agents observe, with the number of nodes if it differs.
	ReadBack string `json:"readBack,omitempty"`
	// Source of the value: Profile if the profile changes the default, Default, or Fixed
	// if the profile has no such field.
	Source string `json:"source"`
	Reason string `json:"reason,omitempty"`
}

// Sources of a property.
const (
	fromProfile = "Profile"
	fromDefault = "Default"
	fixed       = "Fixed"
)

var profileKind = v1alpha1.GroupVersion.WithKind("PgStorageProfile")

// storage returns the properties that the PgNodeStorages of a profile set. If the desired
// values of nodes differ, each value is a property.
func storage(p *v1alpha1.PgStorageProfile, storages []v1alpha1.PgNodeStorage, reference Reference) []Property {
	var out []Property
	add := func(of string, wanted []v1alpha1.ZFSProperty) {
		for _, w := range wanted {
			row := Property{Of: of, Name: w.Name, Value: w.Value}
			if slices.ContainsFunc(out, func(o Property) bool { return o.Of == of && o.Name == w.Name && o.Value == w.Value }) {
				continue
			}
			row.ReadBack = readBack(storages, of, w.Name)
			row.Source, row.Reason = why(p, row, reference)
			out = append(out, row)
		}
	}
	for i := range storages {
		add(storages[i].Spec.Pool.Name, storages[i].Spec.Pool.Properties)
	}
	for i := range storages {
		for _, d := range storages[i].Spec.Datasets {
			add(d.Name, d.Properties)
		}
	}
	slices.SortStableFunc(out, func(a, b Property) int { return strings.Compare(a.Of, b.Of) })
	return out
}

// readBack returns the observed values of a property on all nodes.
func readBack(storages []v1alpha1.PgNodeStorage, of, name string) string {
	counts := map[string]int{}
	for i := range storages {
		s := storages[i].Status
		if s.Pool != nil && s.Pool.Name == of {
			tally(counts, s.Pool.Properties, name)
		}
		for _, d := range s.Datasets {
			if d.Name == of {
				tally(counts, d.Properties, name)
			}
		}
	}
	values := slices.Sorted(maps.Keys(counts))
	if len(values) == 1 && counts[values[0]] == len(storages) {
		return values[0]
	}
	var out []string
	for _, v := range values {
		out = append(out, fmt.Sprintf("%s on %d of %d nodes", v, counts[v], len(storages)))
	}
	return strings.Join(out, ", ")
}

// tally counts the observed value of a property.
func tally(counts map[string]int, properties []v1alpha1.ObservedProperty, name string) {
	for _, p := range properties {
		if p.Name == name {
			counts[p.Value]++
		}
	}
}

// why returns the source and the reason of a value, from the field of the profile.
func why(p *v1alpha1.PgStorageProfile, row Property, reference Reference) (source, reason string) {
	f, found := reference.Field(profileKind, append(member(p, row.Of), camel(row.Name))...)
	switch {
	case !found:
		return fixed, "fixed for profiles of type " + string(p.Spec.Type)
	case same(f.Default, row.Value):
		return fromDefault, f.Description
	}
	return fromProfile, f.Description
}

// same reports whether a default, such as 8k, equals a value in the exact form of ZFS.
// A limit without a default is none.
func same(def, value string) bool {
	if def == "" {
		return value == "none"
	}
	bytes := zfsvolumes.Bytes(def)
	return def == value || bytes > 0 && strconv.FormatInt(bytes, 10) == value
}

// member of the profile's spec that declares a pool or dataset.
func member(p *v1alpha1.PgStorageProfile, of string) []string {
	kind, err := catalog.For(p.Spec.Type)
	if err != nil || kind.Hooks().Plugin.Field == nil {
		return nil
	}
	return kind.Hooks().Plugin.Field(of)
}

// camel returns the field of a ZFS property: redundantMetadata for redundant_metadata.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}
